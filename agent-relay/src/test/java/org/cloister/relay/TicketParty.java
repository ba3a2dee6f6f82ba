package org.cloister.relay;

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
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.protocol.ticket.TicketStream;
import org.cloister.protocol.ticket.Withdrawal;

/** A controlling VM or a host on a stream of tickets, as the protocol's own code makes it. */
@SuppressWarnings("NullAway") // what is missing shows as a failed test
final class TicketParty implements TicketStream.Events {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final AtomicLong SEQUENCE = new AtomicLong();

    final BlockingQueue<OfficeMessage> heard = new LinkedBlockingQueue<>();
    final BlockingQueue<String> ends = new LinkedBlockingQueue<>();
    /** What a test was not waiting for when it came. */
    final List<OfficeMessage> besides = new ArrayList<>();

    OfficeMessage.Welcome welcome;

    private final Name name;
    private final SigningKey key;
    private volatile TicketStream stream;

    private TicketParty(Name name, SigningKey key) {
        this.name = name;
        this.key = key;
    }

    /** Brought by a host, and welcome. */
    static TicketParty controller(Link host, Name name, Credential own) throws Exception {
        TicketParty party = new TicketParty(name, key(own));
        List<byte[]> chain = new ArrayList<>();
        for (X509Certificate each : own.chain()) {
            chain.add(each.getEncoded());
        }
        TicketStream.open(host, Optional.of(new TicketStream.Speaker(name, chain, party.key)), party);
        party.welcome();
        return party;
    }

    /** The link's own. */
    static TicketParty of(Link link, Name name, Credential own) throws Exception {
        TicketParty party = new TicketParty(name, key(own));
        TicketStream.open(link, Optional.empty(), party);
        party.welcome();
        return party;
    }

    static SigningKey key(Credential own) throws Exception {
        return SigningKey.of(new KeyPair(own.chain().get(0).getPublicKey(), own.key()));
    }

    private void welcome() throws InterruptedException {
        OfficeMessage first = null;
        for (int i = 0; i < 200 && first == null && ends.isEmpty(); i++) {
            first = heard.poll(100, TimeUnit.MILLISECONDS);
        }
        Agent.require(first, "no welcome; ended: " + ends);
        if (!(first instanceof OfficeMessage.Welcome said)) {
            throw new AssertionError("want a welcome, have " + first);
        }
        welcome = said;
    }

    @Override
    public void heard(TicketStream on, OfficeMessage message) {
        stream = on;
        heard.add(message);
    }

    @Override
    public void ended(String why) {
        ends.add(why);
    }

    void say(PartyMessage message) {
        stream.say(message);
    }

    void close() {
        stream.close();
    }

    static ResourceRequest nodes(int nodes) {
        return new ResourceRequest(nodes, OptionalInt.of(nodes), 1, OptionalInt.of(1), 512, 0, false, 10, List.of());
    }

    Ticket ticket(ResourceRequest request) {
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
    byte[] order(Ticket ticket) throws Exception {
        byte[] envelope = ticket.sign(key).bytes();
        say(new PartyMessage.Order(ByteString.copyFrom(envelope)));
        return envelope;
    }

    /** The same by a controlling VM that was opened anew. */
    byte[] takesOver(Ticket ticket, long life) throws Exception {
        byte[] envelope = ticket.sign(key, life).bytes();
        say(new PartyMessage.Order(ByteString.copyFrom(envelope)));
        return envelope;
    }

    void withdraw(String ticket) throws Exception {
        say(new PartyMessage.Withdraw(ByteString.copyFrom(
                new Withdrawal(ticket, name.project()).sign(key).bytes())));
    }

    /** What a device brings for its person. */
    void open(Credential opener, Opening opening) throws Exception {
        say(new PartyMessage.Open(
                chain(opener), ByteString.copyFrom(opening.sign(key(opener)).bytes())));
    }

    void close(Credential opener, String opening) throws Exception {
        say(new PartyMessage.Close(
                chain(opener),
                ByteString.copyFrom(new Withdrawal(opening, name.project())
                        .sign(key(opener))
                        .bytes())));
    }

    static List<ByteString> chain(Credential own) throws Exception {
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
    <T extends OfficeMessage> T next(Class<T> kind) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (System.nanoTime() < end) {
            OfficeMessage message = heard.poll(1, TimeUnit.SECONDS);
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
    OfficeMessage.Update until(String ticket, TicketState state) throws InterruptedException {
        OfficeMessage.Update update;
        do {
            update = next(OfficeMessage.Update.class);
        } while (!update.ticket().equals(ticket) || update.state() != state);
        return update;
    }
}
