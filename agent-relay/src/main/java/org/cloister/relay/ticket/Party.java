package org.cloister.relay.ticket;

import com.google.protobuf.ByteString;
import io.netty.channel.Channel;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.wire.FromOffice;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The other end of a stream of tickets. From any thread. An answer counts as given when it is written, and a long one is refused
 * while too many bytes before it are not read. News waits until earlier news is written; of one subject only the newest is kept,
 * and a party for which too much news waits is let go.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what cannot be written shows as the stream's end
final class Party {
    private static final Logger LOG = LoggerFactory.getLogger(Party.class);
    private static final int WRITING = 16;
    /** Answers up to this are bounded by their number. */
    private static final int SHORT = 4096;

    private final Channel stream;
    private final Identity identity;
    private final List<ByteString> chain;
    private final Gate gate;
    private final Shares shares;
    private volatile Seen seen = new Seen(List.of(), Optional.empty());

    // On the stream's event loop alone.
    private final Map<String, News> news = new LinkedHashMap<>();
    private int writing;
    private long answers;

    /** A chain that it has shown for its person, and whose that is. */
    private record Seen(List<ByteString> chain, Optional<Identity> who) {}

    private record News(OfficeMessage message, int bytes) {}

    /** @param chain in which it has shown itself, the leaf first */
    Party(Channel stream, Identity identity, List<ByteString> chain, Gate gate, Shares shares) {
        this.stream = stream;
        this.identity = identity;
        this.chain = chain;
        this.gate = gate;
        this.shares = shares;
        stream.closeFuture().addListener(closed -> forgetNews());
    }

    Identity identity() {
        return identity;
    }

    List<ByteString> chain() {
        return chain;
    }

    /** By whom its work is counted: its project, or its own name if it is the site's. */
    String payer() {
        return payer(identity.name());
    }

    static String payer(Name name) {
        return name.project().equals(Name.SITE) ? name.toString() : name.project();
    }

    /** In whose name: a device's person signs as an opener. */
    Name signs() {
        Name name = identity.name();
        return identity.role() == Role.DEVICE ? new Name(name.id(), Role.OPENER.toString(), name.project()) : name;
    }

    /** The chain that was verified here last. */
    List<ByteString> seen() {
        return seen.chain;
    }

    /** Whose this chain is, if it is the one that was verified here last. */
    Optional<Identity> seen(List<ByteString> shown) {
        Seen last = seen;
        return last.chain.equals(shown) ? last.who : Optional.empty();
    }

    void verified(List<ByteString> shown, Identity who) {
        seen = new Seen(List.copyOf(shown), Optional.of(who));
    }

    /** To one message of its own, which had its turn. */
    void answer(OfficeMessage message) {
        answer(message instanceof OfficeMessage.Update update ? update.ticket() : "", message);
    }

    /** @param ticket that the message was about; empty if it was about none */
    void answer(String ticket, OfficeMessage message) {
        if (message instanceof OfficeMessage.Refused refused && refused.clause() != TicketClause.UNAVAILABLE) {
            shares.checks().charge(payer(), Price.REFUSED);
        }
        shares.checks().finished(payer());
        stream.eventLoop().execute(() -> write(ticket, message));
    }

    private void write(String ticket, OfficeMessage message) {
        FromOffice wire = message.wire();
        int bytes = wire.getSerializedSize();
        if (bytes > SHORT
                && (answers + bytes > LinkLimits.UNWRITTEN_LONG_BYTES
                        || !shares.unwritten().take(payer(), bytes))) {
            shares.metrics().messagesRefused.inc();
            wire = Refusals.unread(ticket, bytes).wire();
            bytes = wire.getSerializedSize();
            shares.unwritten().add(payer(), bytes);
        } else if (bytes <= SHORT) {
            shares.unwritten().add(payer(), bytes);
        }
        int counted = bytes;
        answers += counted;
        gate.writing(counted);
        stream.writeAndFlush(Framing.frame(wire)).addListener(done -> {
            answers -= counted;
            shares.unwritten().release(payer(), counted);
            gate.written(counted);
        });
    }

    /** Nothing is to be said to a message. */
    void skip() {
        shares.checks().finished(payer());
        gate.skipped();
    }

    /** @param about what it replaces, if that is not written yet */
    void tell(String about, OfficeMessage message) {
        int bytes = message.wire().getSerializedSize();
        stream.eventLoop().execute(() -> {
            if (!stream.isActive()) {
                return;
            }
            forget(news.remove(about));
            if (news.size() >= LinkLimits.UNTOLD || !shares.unwritten().take(payer(), bytes)) {
                letGo();
                return;
            }
            news.put(about, new News(message, bytes));
            write();
        });
    }

    private void letGo() {
        shares.metrics().partiesLetGo.inc();
        LOG.warn(
                "let go peer={} reason=\"does not read its stream of tickets: {} pieces of news wait\"",
                identity.name(),
                news.size());
        stream.close();
    }

    private void write() {
        Iterator<News> next = news.values().iterator();
        while (writing < WRITING && next.hasNext()) {
            News each = next.next();
            next.remove();
            writing++;
            stream.writeAndFlush(Framing.frame(each.message.wire())).addListener(done -> {
                writing--;
                forget(each);
                if (done.isSuccess()) {
                    write();
                }
            });
        }
    }

    private void forget(@Nullable News old) {
        if (old != null) {
            shares.unwritten().release(payer(), old.bytes);
        }
    }

    private void forgetNews() {
        news.values().forEach(this::forget);
        news.clear();
    }

    void close() {
        stream.close();
    }
}
