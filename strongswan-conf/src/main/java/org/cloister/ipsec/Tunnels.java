package org.cloister.ipsec;

import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A VM's tunnels, kept as a plan says: tell it the whole plan with {@link #replace}, again for every change. Whatever
 * happens to charon, connections, certificates and keys are loaded again and tunnels made again as soon as it is back.
 *
 * <p>What charon was told by others is left alone. Any thread may call.
 */
public final class Tunnels implements AutoCloseable {
    private final MultiThreadIoEventLoopGroup threads;
    private final EventLoop loop;
    private final TunnelReconciler convergence;

    private Tunnels(Path socket, Consumer<TunnelEvent> listener) {
        this.threads = new MultiThreadIoEventLoopGroup(
                1, new DefaultThreadFactory("tunnels", true), NioIoHandler.newFactory());
        this.loop = threads.next();
        this.convergence = new TunnelReconciler(loop, socket, listener);
    }

    /**
     * Does not wait for charon: it may start later.
     *
     * @param listener hears on the one thread that does all the work, and must not wait there
     */
    public static Tunnels open(Path socket, Consumer<TunnelEvent> listener) {
        Tunnels tunnels = new Tunnels(socket, listener);
        tunnels.convergence.start();
        return tunnels;
    }

    /**
     * From now on exactly these tunnels should be there. Done when charon has been told; peers may come later. Fails with
     * an {@link org.cloister.ipsec.vici.IpsecException} when charon is not there or refuses something; the plan stays, and
     * is tried again.
     */
    public CompletableFuture<Void> replace(TunnelPlan plan) {
        CompletableFuture<Void> told = new CompletableFuture<>();
        loop.execute(() -> convergence.replace(plan, told));
        return told;
    }

    /** Whether each tunnel is up, by its peer's name, as last heard. */
    public Map<String, Boolean> states() {
        return convergence.states();
    }

    /** Leaves charon and its tunnels as they are. */
    @Override
    public void close() {
        loop.submit(convergence::close).awaitUninterruptibly();
        threads.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
