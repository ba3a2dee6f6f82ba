package org.cloister.relay.tickets;

import com.google.protobuf.ByteString;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.protocol.ticket.Withdrawal;
import org.cloister.relay.links.TestAgent;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.TicketStream;
import org.cloister.transport.tls.TlsCredential;

/** A controlling VM or a host on a stream of tickets, as the protocol's own code makes it. */
@SuppressWarnings("NullAway") // what is missing shows as a failed test
public final class TestTicketAgent implements TicketStream.Events {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final AtomicLong SEQUENCE = new AtomicLong();

    final BlockingQueue<RelayTicketMessage> received = new LinkedBlockingQueue<>();
    final BlockingQueue<String> ends = new LinkedBlockingQueue<>();
    /** What a test was not waiting for when it came. */
    final List<RelayTicketMessage> besides = new ArrayList<>();

    RelayTicketMessage.Welcome welcome;

    private final CertificateName name;
    private final SigningKey key;
    private volatile TicketStream stream;

    private TestTicketAgent(CertificateName name, SigningKey key) {
        this.name = name;
        this.key = key;
    }

    /** Brought by a host, and welcome. */
    static TestTicketAgent controller(ClientLink host, CertificateName name, TlsCredential own) throws Exception {
        TestTicketAgent peer = new TestTicketAgent(name, key(own));
        List<byte[]> chain = new ArrayList<>();
        for (X509Certificate each : own.chain()) {
            chain.add(each.getEncoded());
        }
        TicketStream.open(host, Optional.of(new TicketStream.ControllerSigner(name, chain, peer.key)), peer);
        peer.welcome();
        return peer;
    }

    /** The link's own. */
    public static TestTicketAgent of(ClientLink link, CertificateName name, TlsCredential own) throws Exception {
        TestTicketAgent peer = new TestTicketAgent(name, key(own));
        TicketStream.open(link, Optional.empty(), peer);
        peer.welcome();
        return peer;
    }

    static SigningKey key(TlsCredential own) throws Exception {
        return SigningKey.of(new KeyPair(own.chain().get(0).getPublicKey(), own.key()));
    }

    private void welcome() throws InterruptedException {
        RelayTicketMessage first = null;
        for (int i = 0; i < 200 && first == null && ends.isEmpty(); i++) {
            first = received.poll(100, TimeUnit.MILLISECONDS);
        }
        TestAgent.require(first, "no welcome; ended: " + ends);
        if (!(first instanceof RelayTicketMessage.Welcome greeting)) {
            throw new AssertionError("want a welcome, have " + first);
        }
        welcome = greeting;
    }

    @Override
    public void onMessage(TicketStream on, RelayTicketMessage message) {
        stream = on;
        received.add(message);
    }

    @Override
    public void onClosed(String why) {
        ends.add(why);
    }

    public void send(AgentTicketMessage message) {
        stream.send(message);
    }

    public void close() {
        stream.close();
    }

    public static ResourceRequest nodes(int nodes) {
        return new ResourceRequest(nodes, OptionalInt.of(nodes), 1, OptionalInt.of(1), 512, 0, false, 10, List.of());
    }

    public Ticket ticket(ResourceRequest request) {
        Instant now = Instant.now();
        return new Ticket(
                Ticket.newId(RANDOM),
                name.project(),
                1,
                SEQUENCE.incrementAndGet(),
                now,
                now.plus(Duration.ofMinutes(30)),
                request);
    }

    /** Signed and sent. */
    public byte[] order(Ticket ticket) throws Exception {
        byte[] envelope = ticket.sign(key).bytes();
        send(new AgentTicketMessage.Submit(ByteString.copyFrom(envelope)));
        return envelope;
    }

    /** The same by a controlling VM that was opened anew. */
    byte[] takesOver(Ticket ticket, long lifetime) throws Exception {
        byte[] envelope = ticket.sign(key, lifetime).bytes();
        send(new AgentTicketMessage.Submit(ByteString.copyFrom(envelope)));
        return envelope;
    }

    void withdraw(String ticket) throws Exception {
        send(new AgentTicketMessage.Withdraw(ByteString.copyFrom(
                new Withdrawal(ticket, name.project()).sign(key).bytes())));
    }

    /** What a device brings for its person. */
    void open(TlsCredential opener, Opening opening) throws Exception {
        send(new AgentTicketMessage.Open(
                chain(opener), ByteString.copyFrom(opening.sign(key(opener)).bytes())));
    }

    void close(TlsCredential opener, String opening) throws Exception {
        send(new AgentTicketMessage.Close(
                chain(opener),
                ByteString.copyFrom(new Withdrawal(opening, name.project())
                        .sign(key(opener))
                        .bytes())));
    }

    static List<ByteString> chain(TlsCredential own) throws Exception {
        List<ByteString> chain = new ArrayList<>();
        for (X509Certificate each : own.chain()) {
            chain.add(ByteString.copyFrom(each.getEncoded()));
        }
        return chain;
    }

    Opening opening(long epoch) {
        return opening(epoch, 1);
    }

    Opening opening(long epoch, int cpus) {
        Instant now = Instant.now();
        return new Opening(
                Ticket.newId(RANDOM),
                name.project(),
                epoch,
                now,
                now.plus(Duration.ofMinutes(30)),
                "main",
                1024,
                cpus,
                512,
                10_080);
    }

    SigningKey key() {
        return key;
    }

    /** The next of its kind. */
    public <T extends RelayTicketMessage> T next(Class<T> kind) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (System.nanoTime() < end) {
            RelayTicketMessage message = received.poll(1, TimeUnit.SECONDS);
            if (kind.isInstance(message)) {
                return kind.cast(message);
            }
            if (message != null) {
                besides.add(message);
            }
        }
        throw new AssertionError("no " + kind.getSimpleName() + "; besides: " + besides + "; ended: " + ends);
    }

    /** The ticket, once it stands like that. */
    public RelayTicketMessage.Update awaitState(String ticket, TicketState state) throws InterruptedException {
        RelayTicketMessage.Update update;
        do {
            update = next(RelayTicketMessage.Update.class);
        } while (!update.ticket().equals(ticket) || update.state() != state);
        return update;
    }
}
