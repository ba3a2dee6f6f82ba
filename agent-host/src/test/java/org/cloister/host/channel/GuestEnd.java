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
import org.cloister.protocol.channel.PortDialler;
import org.cloister.protocol.channel.PtyPort;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.link.RelayMessage;
import org.jspecify.annotations.Nullable;

/** A VM's end of its port: an agent that behaves, or bare sessions to misbehave in. */
final class GuestEnd implements AgentEvents, AutoCloseable {
    private static final int PATIENCE_S = 40;

    private final EventLoopGroup loops;
    private final PtyPort pipe;
    private final BlockingQueue<Attachment> attachments = new LinkedBlockingQueue<>();
    final BlockingQueue<String> losses = new LinkedBlockingQueue<>();
    final BlockingQueue<Duration> leaves = new LinkedBlockingQueue<>();
    /** A permit for each that came. */
    final Semaphore lists = new Semaphore(0);

    private @Nullable AgentLink agent;

    GuestEnd(EventLoopGroup loops, Path folder) throws IOException, InterruptedException {
        this.loops = loops;
        this.pipe = PtyPort.open(Files.createDirectory(folder));
    }

    static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T value = queue.poll(PATIENCE_S, TimeUnit.SECONDS);
        if (value == null) {
            throw new AssertionError("nothing came");
        }
        return value;
    }

    static <T> Future<T> done(Future<T> future) throws InterruptedException {
        if (!future.await(PATIENCE_S, TimeUnit.SECONDS)) {
            throw new AssertionError("no answer came");
        }
        return future;
    }

    Path socket() {
        return pipe.socket();
    }

    /** Starts its agent anew. */
    Attachment attach() throws InterruptedException {
        stop();
        attachments.clear();
        Beliefs beliefs = new Beliefs(Anchors.none(), RevocationLists.none(), InstantSource.system());
        PortDialler port = new PortDialler(loops.next(), pipe.device());
        agent = new AgentLink(loops.next(), port, "a test's VM", beliefs, this, new Random(1));
        return next(attachments);
    }

    Attachment nextAttachment() throws InterruptedException {
        return next(attachments);
    }

    /** A session of whoever has the port, without an agent. */
    Link session() throws InterruptedException {
        PortDialler port = new PortDialler(loops.next(), pipe.device());
        while (true) {
            Future<Link> dialled = done(port.dial());
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
    public void attached(Attachment attachment) {
        attachments.add(attachment);
    }

    @Override
    public void askedToLeave(Duration within) {
        leaves.add(within);
    }

    @Override
    public void served(Name name, Optional<CloseReason> refused) {}

    @Override
    public void dialled(Attachment attachment, RelayMessage.Dial dial) {}

    @Override
    public boolean revoked(byte[] signed) {
        lists.release();
        return true;
    }

    @Override
    public void lost(String why) {
        losses.add(why);
    }

    @Override
    public void close() {
        stop();
        pipe.close();
    }
}
