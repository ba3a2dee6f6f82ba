package org.cloister.transport.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ReconnectDelay;
import org.cloister.protocol.link.RelayMessage;
import org.jspecify.annotations.Nullable;

/**
 * The host's end of one VM's port: keeps a session on the Unix socket that QEMU made for it. Whenever it ends, the socket is
 * opened again, until the port is closed.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
public final class VmPort implements AutoCloseable {
    private final EventLoop loop;
    private final Path socket;
    private final Set<CertificateName> names;
    private final VmForwarder forwarding;
    private final VmPortListener events;
    private final SecureRandom random = new SecureRandom();
    private final AtomicInteger onLink = new AtomicInteger();
    /** On the loop, as all below. */
    private @Nullable Channel current;

    private @Nullable VmChannelSession attached;
    private boolean closed;
    private boolean leaving;
    /** When a VM that leaves is ended, as {@link System#nanoTime}. */
    private long endNs;

    VmPort(EventLoop loop, Path socket, Set<CertificateName> names, VmForwarder forwarding, VmPortListener events) {
        this.loop = loop;
        this.socket = socket;
        this.names = Set.copyOf(names);
        this.forwarding = forwarding;
        this.events = events;
        loop.execute(this::open);
    }

    private void open() {
        if (closed) {
            return;
        }
        Promise<Channel> session = loop.newPromise();
        ChannelHandshake opening =
                new ChannelHandshake(random, pipeline -> VmChannelSession.install(pipeline, this, forwarding), session);
        Channel channel = new Bootstrap()
                .group(loop)
                .channel(NioDomainSocketChannel.class)
                .handler(opening)
                .connect(UnixDomainSocketAddress.of(socket))
                .channel();
        current = channel;
        session.addListener((Future<Channel> begun) -> {
            if (!begun.isSuccess()) {
                events.onSessionFailed(String.valueOf(begun.cause().getMessage()));
            }
        });
        channel.closeFuture().addListener(ended -> {
            if (!closed && !loop.isShuttingDown()) {
                loop.schedule(this::open, ReconnectDelay.ON_CHANNEL.atLeast().toMillis(), TimeUnit.MILLISECONDS);
            }
        });
    }

    VmPortListener events() {
        return events;
    }

    /** Whom the VM may speak for. */
    Set<CertificateName> names() {
        return names;
    }

    /** @return whether the VM may have one more stream on its host's link; {@link #requestShutdown} gives it back */
    boolean acquireStream() {
        if (onLink.incrementAndGet() > ProtocolLimits.VM_CIRCUITS) {
            onLink.decrementAndGet();
            return false;
        }
        return true;
    }

    void requestShutdown() {
        onLink.decrementAndGet();
    }

    /** Its agent has heard all that comes first in a session; on the loop. */
    void attached(VmChannelSession session) {
        attached = session;
        sayLeave();
    }

    /**
     * Tells the VM that it has to end, in the session that is open and in each that follows. Again is nothing. From any thread.
     *
     * @param within after which the host ends it as it is
     */
    public void requestShutdown(Duration within) {
        long byNs = System.nanoTime() + within.toNanos();
        loop.execute(() -> {
            if (!leaving) {
                leaving = true;
                endNs = byNs;
                sayLeave();
            }
        });
    }

    private void sayLeave() {
        if (leaving && attached != null) {
            long leftNs = Math.max(0, endNs - System.nanoTime());
            attached.send(new RelayMessage.ShutdownRequest(Duration.ofNanos(leftNs)));
        }
    }

    /** Ends the session and all on it; the names are nobody's any more. */
    @Override
    public void close() {
        forwarding.release(this);
        loop.execute(() -> {
            closed = true;
            if (current != null) {
                current.close();
            }
        });
    }

    /** The socket, for logs. */
    @Override
    public String toString() {
        return socket.toString();
    }
}
