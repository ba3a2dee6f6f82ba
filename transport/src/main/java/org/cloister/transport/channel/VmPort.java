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
 * Host's end of one VM's port: keeps a session on the Unix socket that QEMU created for it. After each end of the
 * session it opens the socket again, until the port is closed.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failure on a channel is reported as its end
public final class VmPort implements AutoCloseable {
    private final EventLoop loop;
    private final Path socket;
    private final Set<CertificateName> names;
    private final VmForwarder forwarding;
    private final VmPortListener events;
    private final SecureRandom random = new SecureRandom();
    private final AtomicInteger onLink = new AtomicInteger();
    /** Used on the loop only, as all fields below. */
    private @Nullable Channel current;

    private @Nullable VmChannelSession attached;
    private boolean closed;
    private boolean isClosing;
    /** Time at which a VM that was requested to shut down is stopped, as {@link System#nanoTime}. */
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
        session.addListener((Future<Channel> opened) -> {
            if (!opened.isSuccess()) {
                events.onSessionFailed(String.valueOf(opened.cause().getMessage()));
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

    /** Returns the names for which the VM may act. */
    Set<CertificateName> names() {
        return names;
    }

    /**
     * Acquires a stream on the host's link.
     *
     * @return whether the VM may have one more stream on its host's link; {@link #releaseStream} releases it
     */
    boolean acquireStream() {
        if (onLink.incrementAndGet() > ProtocolLimits.VM_CIRCUITS) {
            onLink.decrementAndGet();
            return false;
        }
        return true;
    }

    void releaseStream() {
        onLink.decrementAndGet();
    }

    /**
     * Records the attached session after its first messages were sent, and sends a pending shutdown request; on the
     * loop.
     */
    void attached(VmChannelSession session) {
        attached = session;
        sendClose();
    }

    /**
     * Requests the VM's shutdown in the open session and in each later one. Further calls have no effect. Thread-safe.
     *
     * @param within time after which the host stops the VM forcibly
     */
    public void requestShutdown(Duration within) {
        long byNs = System.nanoTime() + within.toNanos();
        loop.execute(() -> {
            if (!isClosing) {
                isClosing = true;
                endNs = byNs;
                sendClose();
            }
        });
    }

    private void sendClose() {
        if (isClosing && attached != null) {
            long leftNs = Math.max(0, endNs - System.nanoTime());
            attached.send(new RelayMessage.ShutdownRequest(Duration.ofNanos(leftNs)));
        }
    }

    /** Ends the session and all its streams, and releases the names. */
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

    /** Returns the socket's path, for logs. */
    @Override
    public String toString() {
        return socket.toString();
    }
}
