package org.cloister.lab.relay;

import com.google.protobuf.ByteString;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.protocol.ticket.Withdrawal;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.TicketStream;
import org.cloister.transport.tls.TlsCredential;

/**
 * Program: {@code FOLDER PROJECT PORT WARM COUNT}. A host, and a controlling VM of a project that requests one ticket
 * after the other. Prints {@code ticket SECONDS} for each but the first ones: from the request until the signed
 * allocation arrives. Each ticket is withdrawn then.
 */
public final class SequentialTicketsProgram implements AgentLinkListener, TicketStream.Events {
    private static final int TIMEOUT_S = 30;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final CompletableFuture<ClientLink> attached = new CompletableFuture<>();
    private final CompletableFuture<TicketStream> stream = new CompletableFuture<>();
    private final BlockingQueue<String> allocated = new LinkedBlockingQueue<>();

    private SequentialTicketsProgram() {}

    public static void main(String[] args) throws Exception {
        RelaySiteFiles site = RelaySiteFiles.at(Path.of(args[0]), Path.of(args[1]));
        EventLoopGroup loops =
                new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("loop", true), NioIoHandler.newFactory());
        SequentialTicketsProgram one = new SequentialTicketsProgram();
        TlsCredential host = site.credential(RelaySiteFiles.HOST);
        TrustStore trustStore = site.beliefs();
        AgentLink.Settings terms = new AgentLink.Settings(
                List.of(RelaySiteFiles.loopback(Integer.parseInt(args[2]))),
                () -> host,
                trust -> trust.only(RelaySiteFiles.RELAY),
                trustStore,
                "lab/bench relay");
        AgentLink link = new AgentLink(loops, terms, one, new Random(1));
        one.run(site, Integer.parseInt(args[3]), Integer.parseInt(args[4]));
        link.close();
        System.exit(0);
    }

    private void run(RelaySiteFiles site, int warm, int count) throws Exception {
        TlsCredential own = site.credential(site.controller());
        SigningKey key = SigningKey.of(new KeyPair(own.chain().get(0).getPublicKey(), own.key()));
        List<byte[]> chain = new ArrayList<>();
        for (var each : own.chain()) {
            chain.add(each.getEncoded());
        }
        TicketStream.open(
                attached.get(TIMEOUT_S, TimeUnit.SECONDS),
                Optional.of(new TicketStream.ControllerSigner(site.controller(), chain, key)),
                this);
        TicketStream stream = this.stream.get(TIMEOUT_S, TimeUnit.SECONDS);
        // Later than the epoch of any program before this one.
        long epoch = Instant.now().toEpochMilli();
        for (int i = -warm; i < count; i++) {
            Ticket ticket = ticket(site, epoch, i + warm + 1L);
            long from = System.nanoTime();
            stream.send(new AgentTicketMessage.Submit(
                    ByteString.copyFrom(ticket.sign(key).bytes())));
            await(ticket.id());
            if (i >= 0) {
                System.out.println("ticket " + (System.nanoTime() - from) / 1e9);
            }
            stream.send(new AgentTicketMessage.Withdraw(ByteString.copyFrom(
                    new Withdrawal(ticket.id(), ticket.project()).sign(key).bytes())));
        }
    }

    private void await(String ticket) throws IOException, InterruptedException {
        for (String id = ""; !id.equals(ticket); ) {
            id = allocated.poll(TIMEOUT_S, TimeUnit.SECONDS);
            if (id == null) {
                throw new IOException("ticket " + ticket + ": no allocation within " + TIMEOUT_S + " s");
            }
        }
    }

    private static Ticket ticket(RelaySiteFiles site, long epoch, long sequence) {
        Instant now = Instant.now();
        ResourceRequest one =
                new ResourceRequest(1, OptionalInt.of(1), 1, OptionalInt.empty(), 1024, 0, false, 10, List.of());
        return new Ticket(
                Ticket.newId(RANDOM),
                site.controller().project(),
                epoch,
                sequence,
                now,
                now.plus(Duration.ofMinutes(30)),
                one);
    }

    @Override
    public void onMessage(TicketStream on, RelayTicketMessage message) {
        if (message instanceof RelayTicketMessage.Welcome) {
            stream.complete(on);
        } else if (message instanceof RelayTicketMessage.Update update) {
            if (update.state() == TicketState.RUNNING && !update.allocation().isEmpty()) {
                allocated.add(update.ticket());
            }
        } else if (message instanceof RelayTicketMessage.Refused refused) {
            System.err.println("refused: " + refused.text());
        }
    }

    @Override
    public void onClosed(String why) {
        stream.completeExceptionally(new IOException(why));
        System.err.println("tickets: " + why);
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        attached.complete(attachment.link());
    }

    @Override
    public void onLost(String why) {
        System.err.println("lost: " + why);
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
