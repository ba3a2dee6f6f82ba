package org.cloister.host.channel;

import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.channel.HostPortDialler;
import org.cloister.transport.channel.PtyPort;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.transport.link.ClientLink;
import org.jspecify.annotations.Nullable;

/** A VM's end of its port: an agent that behaves, or bare sessions to misbehave in. */
final class GuestChannelEnd implements AgentLinkListener, AutoCloseable {
    private static final int TIMEOUT_S = 40;

    private final EventLoopGroup loops;
    private final PtyPort pipe;
    private final BlockingQueue<AgentAttachStream> attachments = new LinkedBlockingQueue<>();
    final BlockingQueue<String> losses = new LinkedBlockingQueue<>();
    final BlockingQueue<Duration> leaves = new LinkedBlockingQueue<>();
    /** A permit for each that came. */
    final Semaphore lists = new Semaphore(0);

    private @Nullable AgentLink agent;

    GuestChannelEnd(EventLoopGroup loops, Path folder) throws IOException, InterruptedException {
        this.loops = loops;
        this.pipe = PtyPort.open(Files.createDirectory(folder));
    }

    static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T value = queue.poll(TIMEOUT_S, TimeUnit.SECONDS);
        if (value == null) {
            throw new AssertionError("nothing came");
        }
        return value;
    }

    static <T> Future<T> done(Future<T> future) throws InterruptedException {
        if (!future.await(TIMEOUT_S, TimeUnit.SECONDS)) {
            throw new AssertionError("no answer came");
        }
        return future;
    }

    Path socket() {
        return pipe.socket();
    }

    /** Starts its agent anew. */
    AgentAttachStream attach() throws InterruptedException {
        stop();
        attachments.clear();
        TrustStore trustStore = new TrustStore(TrustAnchors.none(), RevocationLists.none(), InstantSource.system());
        HostPortDialler port = new HostPortDialler(loops.next(), pipe.device());
        agent = new AgentLink(loops.next(), port, "a test's VM", trustStore, this, new Random(1));
        return next(attachments);
    }

    AgentAttachStream nextAttachment() throws InterruptedException {
        return next(attachments);
    }

    /** A session of whoever has the port, without an agent. */
    ClientLink session() throws InterruptedException {
        HostPortDialler port = new HostPortDialler(loops.next(), pipe.device());
        while (true) {
            Future<ClientLink> dialled = done(port.dial());
            if (dialled.isSuccess()) {
                return dialled.getNow();
            }
        }
    }

    void stop() {
        if (agent != null) {
            agent.close();
        }
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        attachments.add(attachment);
    }

    @Override
    public void onShutdownRequest(Duration within) {
        leaves.add(within);
    }

    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {}

    @Override
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {}

    @Override
    public boolean onRevocationList(byte[] signed) {
        lists.release();
        return true;
    }

    @Override
    public void onLost(String why) {
        losses.add(why);
    }

    @Override
    public void close() {
        stop();
        pipe.close();
    }
}
