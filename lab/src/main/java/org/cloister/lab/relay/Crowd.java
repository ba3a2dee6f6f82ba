package org.cloister.lab.relay;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.RelayMessage;

/**
 * Program: {@code FOLDER PORT COUNT}. Keeps so many agents attached, says {@code all} whenever all of them are and
 * {@code none} whenever none is, and ends with its input.
 */
public final class Crowd implements AgentEvents {
    /** So many begin at a time: the relay lets 200 links of all processes be without a request. */
    private static final int AT_ONCE = 50;

    private static final Semaphore BEGINNERS = new Semaphore(AT_ONCE);
    private static final AtomicInteger ATTACHED = new AtomicInteger();

    private final int count;
    private final AtomicBoolean begun = new AtomicBoolean();
    private boolean attached;

    private Crowd(int count) {
        this.count = count;
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        RelaySite site = RelaySite.at(Path.of(args[0]));
        int port = Integer.parseInt(args[1]);
        int count = Integer.parseInt(args[2]);
        Beliefs beliefs = site.beliefs();
        List<Credential> hosts = site.hosts();
        EventLoopGroup loops =
                new MultiThreadIoEventLoopGroup(2, new DefaultThreadFactory("loop", true), NioIoHandler.newFactory());
        List<AgentLink> links = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            BEGINNERS.acquire();
            Credential own = hosts.get(i % hosts.size());
            AgentLink.Terms terms = new AgentLink.Terms(
                    List.of(RelaySite.loopback(port)),
                    () -> own,
                    trust -> trust.only(RelaySite.RELAY),
                    beliefs,
                    "lab/bench relay");
            links.add(new AgentLink(loops, terms, new Crowd(count), new Random(i)));
        }
        while (System.in.read() >= 0) {
            // Whoever started this closes its end.
        }
        links.forEach(AgentLink::close);
    }

    @Override
    public void attached(Attachment attachment) {
        if (begun.compareAndSet(false, true)) {
            BEGINNERS.release();
        }
        attached = true;
        if (ATTACHED.incrementAndGet() == count) {
            System.out.println("all");
        }
    }

    @Override
    public void lost(String why) {
        if (attached) {
            attached = false;
            if (ATTACHED.decrementAndGet() == 0) {
                System.out.println("none");
            }
        }
    }

    @Override
    public void served(Name name, Optional<CloseReason> refused) {
        throw new IllegalStateException("nothing was offered");
    }

    @Override
    public void dialled(Attachment attachment, RelayMessage.Dial dial) {
        throw new IllegalStateException("nothing is served");
    }

    @Override
    public boolean revoked(byte[] signed) {
        return false;
    }
}
