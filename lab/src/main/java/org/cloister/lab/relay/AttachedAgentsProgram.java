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
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.transport.tls.TlsCredential;

/**
 * Program: {@code FOLDER PORT COUNT}. Keeps so many agents attached, prints {@code all} whenever all of them are and
 * {@code none} whenever none is, and ends with its input.
 */
public final class AttachedAgentsProgram implements AgentLinkListener {
    /** Number of agents that attach at a time: the relay lets 200 links of all processes be without a request. */
    private static final int AT_ONCE = 50;

    private static final Semaphore BEGINNERS = new Semaphore(AT_ONCE);
    private static final AtomicInteger ATTACHED = new AtomicInteger();

    private final int count;
    private final AtomicBoolean started = new AtomicBoolean();
    private boolean attached;

    private AttachedAgentsProgram(int count) {
        this.count = count;
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        RelaySiteFiles site = RelaySiteFiles.at(Path.of(args[0]));
        int port = Integer.parseInt(args[1]);
        int count = Integer.parseInt(args[2]);
        TrustStore trustStore = site.beliefs();
        List<TlsCredential> hosts = site.hosts();
        EventLoopGroup loops =
                new MultiThreadIoEventLoopGroup(2, new DefaultThreadFactory("loop", true), NioIoHandler.newFactory());
        List<AgentLink> links = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            BEGINNERS.acquire();
            TlsCredential own = hosts.get(i % hosts.size());
            AgentLink.Settings terms = new AgentLink.Settings(
                    List.of(RelaySiteFiles.loopback(port)),
                    () -> own,
                    trust -> trust.only(RelaySiteFiles.RELAY),
                    trustStore,
                    "lab/bench relay");
            links.add(new AgentLink(loops, terms, new AttachedAgentsProgram(count), new Random(i)));
        }
        while (System.in.read() >= 0) {
            // The parent process closes its end.
        }
        links.forEach(AgentLink::close);
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        if (started.compareAndSet(false, true)) {
            BEGINNERS.release();
        }
        attached = true;
        if (ATTACHED.incrementAndGet() == count) {
            System.out.println("all");
        }
    }

    @Override
    public void onLost(String why) {
        if (attached) {
            attached = false;
            if (ATTACHED.decrementAndGet() == 0) {
                System.out.println("none");
            }
        }
    }

    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {
        throw new IllegalStateException("nothing was offered");
    }

    @Override
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        throw new IllegalStateException("nothing is served");
    }
}
