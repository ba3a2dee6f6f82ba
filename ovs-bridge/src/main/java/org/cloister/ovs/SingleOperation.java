package org.cloister.ovs;

import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.cloister.ovs.io.OvsException;
import org.cloister.ovs.io.OvsException.Disconnected;
import org.cloister.ovs.io.OvsException.TimedOut;

/** Runs one operation on a bridge on an event loop of its own, within the deadline of the bridge's configuration. */
final class SingleOperation {
    private SingleOperation() {}

    /**
     * Waits for the operation's result.
     *
     * @param operation for messages
     * @param start starts it on the event loop, which stops after the operation
     */
    static <T> T run(BridgeConfig config, String operation, Function<EventLoop, CompletableFuture<T>> start)
            throws OvsException {
        MultiThreadIoEventLoopGroup threads =
                new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("bridge", true), NioIoHandler.newFactory());
        try {
            return start.apply(threads.next()).get(config.deadline().toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof OvsException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        } catch (TimeoutException e) {
            throw new TimedOut(
                    operation,
                    "an answer within " + config.deadline().toMillis() + " ms",
                    "none from " + config.databaseSocket() + " or " + config.flowSocket(),
                    "see whether ovsdb-server and ovs-vswitchd run");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Disconnected(operation, "an interrupted caller");
        } finally {
            threads.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }
}
