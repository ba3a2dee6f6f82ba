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
 * Keeps a VM's tunnels equal to a plan: the caller passes the whole plan to {@link #replace}, again for every change.
 * After any failure of charon, connections, certificates and keys are loaded again and tunnels set up again as soon as
 * it answers.
 *
 * <p>Connections that other programs loaded into charon are left unchanged. Safe for use by several threads.
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
     * Opens without waiting for charon, which may start later.
     *
     * @param listener called on the one thread that does all the work; must not block it
     */
    public static Tunnels open(Path socket, Consumer<TunnelEvent> listener) {
        Tunnels tunnels = new Tunnels(socket, listener);
        tunnels.convergence.start();
        return tunnels;
    }

    /**
     * Sets exactly these tunnels as the plan. Completes when charon has the configuration; peers may answer later.
     * Fails with an {@link org.cloister.ipsec.vici.IpsecException} when charon does not answer or refuses something;
     * the plan stays, and is retried.
     */
    public CompletableFuture<Void> replace(TunnelPlan plan) {
        CompletableFuture<Void> reply = new CompletableFuture<>();
        loop.execute(() -> convergence.replace(plan, reply));
        return reply;
    }

    /** Returns whether each tunnel is up, by its peer's name, as last reported. */
    public Map<String, Boolean> states() {
        return convergence.states();
    }

    /** Stops the maintenance and leaves charon and its tunnels unchanged. */
    @Override
    public void close() {
        loop.submit(convergence::close).awaitUninterruptibly();
        threads.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
