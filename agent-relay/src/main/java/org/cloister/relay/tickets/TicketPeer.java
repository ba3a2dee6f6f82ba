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
 * while too many bytes before it are unread. An update waits until earlier ones are written; of one subject only the
 * newest is kept, and a peer with too many waiting updates is disconnected.
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
    private final MessageFlowControl flowControl;
    private final TicketStreamLimits limits;
    private volatile VerifiedChain verified = new VerifiedChain(List.of(), Optional.empty());

    // Used on the stream's event loop only.
    private final Map<String, PendingUpdate> updates = new LinkedHashMap<>();
    private int writing;
    private long answers;

    /** Chain that the peer has shown for its person, and the identity that it proves. */
    private record VerifiedChain(List<ByteString> chain, Optional<CertifiedIdentity> who) {}

    private record PendingUpdate(RelayTicketMessage message, int bytes) {}

    /** @param chain the chain with which the peer authenticated, the leaf first */
    TicketPeer(
            Channel stream,
            CertifiedIdentity identity,
            List<ByteString> chain,
            MessageFlowControl flowControl,
            TicketStreamLimits limits) {
        this.stream = stream;
        this.identity = identity;
        this.chain = chain;
        this.flowControl = flowControl;
        this.limits = limits;
        stream.closeFuture().addListener(closed -> forgetUpdates());
    }

    CertifiedIdentity identity() {
        return identity;
    }

    List<ByteString> chain() {
        return chain;
    }

    /** Returns the payer of the peer's work: its project, or its own name if it is the site's. */
    String payer() {
        return payer(identity.name());
    }

    static String payer(CertificateName name) {
        return name.project().equals(CertificateName.SITE) ? name.toString() : name.project();
    }

    /** Returns the name in which the peer signs: a device's person signs as an opener. */
    CertificateName signerName() {
        CertificateName name = identity.name();
        return identity.role() == CertificateRole.DEVICE
                ? new CertificateName(name.id(), CertificateRole.OPENER.toString(), name.project())
                : name;
    }

    /** Returns the chain that was verified here last. */
    List<ByteString> verifiedChain() {
        return verified.chain;
    }

    /** Returns the identity of this chain, if it is the one that was verified here last. */
    Optional<CertifiedIdentity> verifiedChain(List<ByteString> candidate) {
        VerifiedChain last = verified;
        return last.chain.equals(candidate) ? last.who : Optional.empty();
    }

    void rememberVerified(List<ByteString> candidate, CertifiedIdentity who) {
        verified = new VerifiedChain(List.copyOf(candidate), Optional.of(who));
    }

    /** Answers one checked message of the peer. */
    void answer(RelayTicketMessage message) {
        answer(message instanceof RelayTicketMessage.Update update ? update.ticket() : "", message);
    }

    /**
     * Answers one checked message of the peer.
     *
     * @param ticket the ticket that the message was about; empty if it was about none
     */
    void answer(String ticket, RelayTicketMessage message) {
        if (message instanceof RelayTicketMessage.Refused refused && refused.clause() != TicketClause.UNAVAILABLE) {
            limits.checks().charge(payer(), MessageCost.REFUSED);
        }
        limits.checks().finish(payer());
        stream.eventLoop().execute(() -> write(ticket, message));
    }

    private void write(String ticket, RelayTicketMessage message) {
        FromOffice wire = message.wire();
        int bytes = wire.getSerializedSize();
        if (bytes > SHORT
                && (answers + bytes > ProtocolLimits.UNWRITTEN_LONG_BYTES
                        || !limits.unwritten().tryReserve(payer(), bytes))) {
            limits.metrics().messagesRefused.inc();
            wire = RefusalMessages.tooManyUnreadBytes(ticket, bytes).wire();
            bytes = wire.getSerializedSize();
            limits.unwritten().add(payer(), bytes);
        } else if (bytes <= SHORT) {
            limits.unwritten().add(payer(), bytes);
        }
        int counted = bytes;
        answers += counted;
        flowControl.onWriteStarted(counted);
        stream.writeAndFlush(MessageFraming.frame(wire)).addListener(done -> {
            answers -= counted;
            limits.unwritten().release(payer(), counted);
            flowControl.onWritten(counted);
        });
    }

    /** Records that a message gets no answer. */
    void skipAnswer() {
        limits.checks().finish(payer());
        flowControl.onSkipped();
    }

    /**
     * Sends an update.
     *
     * @param about key of the waiting update that this message replaces
     */
    void sendUpdate(String about, RelayTicketMessage message) {
        int bytes = message.wire().getSerializedSize();
        stream.eventLoop().execute(() -> {
            if (!stream.isActive()) {
                return;
            }
            forget(updates.remove(about));
            if (updates.size() >= ProtocolLimits.PENDING_UPDATES
                    || !limits.unwritten().tryReserve(payer(), bytes)) {
                closeSlowStream();
                return;
            }
            updates.put(about, new PendingUpdate(message, bytes));
            write();
        });
    }

    private void closeSlowStream() {
        limits.metrics().slowPeersClosed.inc();
        LOG.warn(
                "closing ticket stream peer={} reason=\"the peer does not read it: {} updates wait\"",
                identity.name(),
                updates.size());
        stream.close();
    }

    private void write() {
        Iterator<PendingUpdate> next = updates.values().iterator();
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
            limits.unwritten().release(payer(), old.bytes);
        }
    }

    private void forgetUpdates() {
        updates.values().forEach(this::forget);
        updates.clear();
    }

    void close() {
        stream.close();
    }
}
