package org.cloister.relay.tickets;

import com.google.protobuf.ByteString;
import io.netty.channel.Channel;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.wire.FromOffice;
import org.cloister.transport.link.MessageFraming;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Other end of a ticket stream. Thread-safe. An answer counts as given when it is written; a long answer is refused
 * while too many bytes before it are unread. News waits until earlier news is written; of one subject only the newest
 * is kept, and a party with too much waiting news is disconnected.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write shows as the stream's end
final class TicketPeer {
    private static final Logger LOG = LoggerFactory.getLogger(TicketPeer.class);
    private static final int WRITING = 16;
    /** Maximum size in bytes of a short answer; short answers are bounded by their number. */
    private static final int SHORT = 4096;

    private final Channel stream;
    private final CertifiedIdentity identity;
    private final List<ByteString> chain;
    private final MessageFlowControl gate;
    private final TicketStreamLimits shares;
    private volatile VerifiedChain seen = new VerifiedChain(List.of(), Optional.empty());

    // Used on the stream's event loop only.
    private final Map<String, PendingUpdate> news = new LinkedHashMap<>();
    private int writing;
    private long answers;

    /** Chain that the party has shown for its person, and the identity that it proves. */
    private record VerifiedChain(List<ByteString> chain, Optional<CertifiedIdentity> who) {}

    private record PendingUpdate(RelayTicketMessage message, int bytes) {}

    /** @param chain the chain with which the party authenticated, the leaf first */
    TicketPeer(
            Channel stream,
            CertifiedIdentity identity,
            List<ByteString> chain,
            MessageFlowControl gate,
            TicketStreamLimits shares) {
        this.stream = stream;
        this.identity = identity;
        this.chain = chain;
        this.gate = gate;
        this.shares = shares;
        stream.closeFuture().addListener(closed -> forgetNews());
    }

    CertifiedIdentity identity() {
        return identity;
    }

    List<ByteString> chain() {
        return chain;
    }

    /** Returns the payer of the party's work: its project, or its own name if it is the site's. */
    String payer() {
        return payer(identity.name());
    }

    static String payer(CertificateName name) {
        return name.project().equals(CertificateName.SITE) ? name.toString() : name.project();
    }

    /** Returns the name in which the party signs: a device's person signs as an opener. */
    CertificateName signerName() {
        CertificateName name = identity.name();
        return identity.role() == CertificateRole.DEVICE
                ? new CertificateName(name.id(), CertificateRole.OPENER.toString(), name.project())
                : name;
    }

    /** Returns the chain that was verified here last. */
    List<ByteString> verifiedChain() {
        return seen.chain;
    }

    /** Returns the identity of this chain, if it is the one that was verified here last. */
    Optional<CertifiedIdentity> verifiedChain(List<ByteString> shown) {
        VerifiedChain last = seen;
        return last.chain.equals(shown) ? last.who : Optional.empty();
    }

    void rememberVerified(List<ByteString> shown, CertifiedIdentity who) {
        seen = new VerifiedChain(List.copyOf(shown), Optional.of(who));
    }

    /** Answers one message of the party, which had its turn. */
    void answer(RelayTicketMessage message) {
        answer(message instanceof RelayTicketMessage.Update update ? update.ticket() : "", message);
    }

    /**
     * Answers one message of the party, which had its turn.
     *
     * @param ticket the ticket that the message was about; empty if it was about none
     */
    void answer(String ticket, RelayTicketMessage message) {
        if (message instanceof RelayTicketMessage.Refused refused && refused.clause() != TicketClause.UNAVAILABLE) {
            shares.checks().charge(payer(), MessageCost.REFUSED);
        }
        shares.checks().finish(payer());
        stream.eventLoop().execute(() -> write(ticket, message));
    }

    private void write(String ticket, RelayTicketMessage message) {
        FromOffice wire = message.wire();
        int bytes = wire.getSerializedSize();
        if (bytes > SHORT
                && (answers + bytes > ProtocolLimits.UNWRITTEN_LONG_BYTES
                        || !shares.unwritten().tryReserve(payer(), bytes))) {
            shares.metrics().messagesRefused.inc();
            wire = RefusalMessages.tooManyUnreadBytes(ticket, bytes).wire();
            bytes = wire.getSerializedSize();
            shares.unwritten().add(payer(), bytes);
        } else if (bytes <= SHORT) {
            shares.unwritten().add(payer(), bytes);
        }
        int counted = bytes;
        answers += counted;
        gate.onWriteStarted(counted);
        stream.writeAndFlush(MessageFraming.frame(wire)).addListener(done -> {
            answers -= counted;
            shares.unwritten().release(payer(), counted);
            gate.onWritten(counted);
        });
    }

    /** Records that a message gets no answer. */
    void skipAnswer() {
        shares.checks().finish(payer());
        gate.onSkipped();
    }

    /**
     * Sends news.
     *
     * @param about key of the waiting news that this message replaces
     */
    void sendUpdate(String about, RelayTicketMessage message) {
        int bytes = message.wire().getSerializedSize();
        stream.eventLoop().execute(() -> {
            if (!stream.isActive()) {
                return;
            }
            forget(news.remove(about));
            if (news.size() >= ProtocolLimits.PENDING_UPDATES
                    || !shares.unwritten().tryReserve(payer(), bytes)) {
                letGo();
                return;
            }
            news.put(about, new PendingUpdate(message, bytes));
            write();
        });
    }

    private void letGo() {
        shares.metrics().partiesLetGo.inc();
        LOG.warn(
                "closing ticket stream peer={} reason=\"the peer does not read it: {} updates wait\"",
                identity.name(),
                news.size());
        stream.close();
    }

    private void write() {
        Iterator<PendingUpdate> next = news.values().iterator();
        while (writing < WRITING && next.hasNext()) {
            PendingUpdate each = next.next();
            next.remove();
            writing++;
            stream.writeAndFlush(MessageFraming.frame(each.message.wire())).addListener(done -> {
                writing--;
                forget(each);
                if (done.isSuccess()) {
                    write();
                }
            });
        }
    }

    private void forget(@Nullable PendingUpdate old) {
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
