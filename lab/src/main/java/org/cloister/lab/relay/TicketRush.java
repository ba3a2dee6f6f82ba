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
import java.security.cert.CertificateEncodingException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.link.Trust;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.protocol.ticket.TicketStream;

/**
 * Program: {@code FOLDER PORT COUNT}. A controlling VM that asks for so many tickets at once. Says {@code accepted SECONDS} when
 * each is on the relay's disk and in its audit log, and {@code queued SECONDS} when Slurm has a job for each.
 */
public final class TicketRush implements TicketStream.Events {
    private static final int PATIENCE_S = 100;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final CompletableFuture<TicketStream> welcome = new CompletableFuture<>();
    private final CountDownLatch accepted;
    private final CountDownLatch queued;
    private final Map<String, TicketState> states = new HashMap<>();

    private TicketRush(int count) {
        this.accepted = new CountDownLatch(count);
        this.queued = new CountDownLatch(count);
    }

    public static void main(String[] args) throws Exception {
        RelaySite site = RelaySite.at(Path.of(args[0]));
        int count = Integer.parseInt(args[2]);
        EventLoopGroup loops =
                new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("loop", true), NioIoHandler.newFactory());
        Trust relay = Trust.inRelays(site.beliefs()).only(RelaySite.RELAY);
        Link link = Link.dial(
                        loops, RelaySite.loopback(Integer.parseInt(args[1])), site.credential(RelaySite.HOST), relay)
                .sync()
                .getNow();
        TicketRush rush = new TicketRush(count);
        rush.run(link, site);
        link.close();
    }

    private void run(Link link, RelaySite site) throws Exception {
        Credential own = site.credential(site.controller());
        SigningKey key = SigningKey.of(new KeyPair(own.chain().get(0).getPublicKey(), own.key()));
        TicketStream.open(link, Optional.of(speaker(site, own, key)), this);
        TicketStream stream = welcome.get(PATIENCE_S, TimeUnit.SECONDS);
        List<byte[]> tickets = new ArrayList<>();
        long epoch = Instant.now().getEpochSecond();
        for (int i = 0; i < accepted.getCount(); i++) {
            tickets.add(ticket(site, epoch, i + 1).sign(key).bytes());
        }
        long from = System.nanoTime();
        tickets.forEach(each -> stream.say(new PartyMessage.Order(ByteString.copyFrom(each))));
        await(accepted, "all accepted");
        System.out.println("accepted " + (System.nanoTime() - from) / 1e9);
        await(queued, "all queued");
        System.out.println("queued " + (System.nanoTime() - from) / 1e9);
    }

    private static TicketStream.Speaker speaker(RelaySite site, Credential own, SigningKey key)
            throws CertificateEncodingException {
        List<byte[]> chain = new ArrayList<>();
        for (var each : own.chain()) {
            chain.add(each.getEncoded());
        }
        return new TicketStream.Speaker(site.controller(), chain, key);
    }

    private static Ticket ticket(RelaySite site, long epoch, long sequence) {
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

    private static void await(CountDownLatch latch, String what) throws IOException, InterruptedException {
        if (!latch.await(PATIENCE_S, TimeUnit.SECONDS)) {
            throw new IOException("tickets: want " + what + " within " + PATIENCE_S + " s, miss " + latch.getCount());
        }
    }

    @Override
    public void heard(TicketStream on, OfficeMessage message) {
        if (message instanceof OfficeMessage.Welcome) {
            welcome.complete(on);
        } else if (message instanceof OfficeMessage.Update update) {
            TicketState before = states.put(update.ticket(), update.state());
            if (before == null) {
                accepted.countDown();
            }
            if (update.state() == TicketState.QUEUED && before != TicketState.QUEUED) {
                queued.countDown();
            }
        } else if (message instanceof OfficeMessage.Refused refused) {
            ended(refused.text());
        }
    }

    @Override
    public void ended(String why) {
        welcome.completeExceptionally(new IOException(why));
        System.err.println("tickets: " + why);
    }
}
