package org.cloister.protocol.link;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.wire.FromRelay;

/** Messages of the relay on an attach stream; docs/protocol.md, section 8. */
public sealed interface RelayMessage {
    /**
     * Confirms the attachment; the first message.
     *
     * @param relay the name of the process, for logs
     * @param lists number of revocation lists that follow at once
     * @param head the newest of the relay's audit log, to be stored by the agent as a witness; empty if it has none
     */
    record Attached(String relay, ReconnectDelay delay, int lists, ByteString head) implements RelayMessage {
        /** Creates the message of a relay or host that has no audit log. */
        public Attached(String relay, ReconnectDelay delay, int lists) {
            this(relay, delay, lists, ByteString.EMPTY);
        }
    }

    /**
     * Reports whether the relay serves a name.
     *
     * @param refused the reason if the name is not served; empty if it is served
     */
    record Served(CertificateName name, Optional<CloseReason> refused) implements RelayMessage {}

    record Dial(DialBackToken token, CertificateName from, CertificateName to, Digest policy) implements RelayMessage {}

    /**
     * Forwards a revocation list.
     *
     * @param signed as its issuer signed it; each recipient verifies it
     */
    record Revocations(ByteString signed) implements RelayMessage {}

    record Drain(ReconnectDelay delay) implements RelayMessage {}

    /** Answers {@link AgentMessage.Renew}. */
    record Renewed(RenewalResult outcome) implements RelayMessage {}

    /**
     * Forwards a renewal request; to the registration authority only.
     *
     * @param id for the answer
     * @param from the name of the link on which it came, as the relay states it
     */
    record RenewalRequested(long id, CertificateName from, ByteString request) implements RelayMessage {}

    /**
     * Requests a VM's shutdown; from a host to its VM only.
     *
     * @param within time after which the host stops the VM forcibly; at most {@link ShutdownRequest#LONGEST}
     */
    record ShutdownRequest(Duration within) implements RelayMessage {
        /** Limit that a VM applies. */
        public static final Duration LONGEST = Duration.ofHours(1);

        public ShutdownRequest {
            if (within.isNegative() || within.compareTo(LONGEST) > 0) {
                throw new IllegalArgumentException(
                        "leave: want 0 to " + LONGEST.toSeconds() + " s, have " + within.toMillis() + " ms");
            }
        }

        /** Reads a request from the wire; a time above {@link #LONGEST} is reduced to it. */
        private static ShutdownRequest of(int unsignedMs) {
            return new ShutdownRequest(
                    Duration.ofMillis(Math.min(Integer.toUnsignedLong(unsignedMs), LONGEST.toMillis())));
        }
    }

    /** Message of a later version, which the reader skips. */
    record UnknownMessage() implements RelayMessage {}

    static RelayMessage read(byte[] bytes) throws MalformedException {
        FromRelay message;
        try {
            message = FromRelay.parseFrom(bytes);
        } catch (InvalidProtocolBufferException e) {
            throw new MalformedException("message of the relay: " + e.getMessage(), e);
        }
        CriticalFields.require(message.getCriticalList(), FromRelay.LEAVE_FIELD_NUMBER);
        return switch (message.getKindCase()) {
            case ATTACHED ->
                new Attached(
                        relay(message.getAttached().getRelay()),
                        ReconnectDelay.of(message.getAttached().getPace()),
                        lists(message.getAttached().getLists()),
                        message.getAttached().getHead());
            case SERVED -> served(message.getServed());
            case DIAL -> dial(message.getDial());
            case REVOCATIONS -> new Revocations(message.getRevocations().getSigned());
            case DRAIN -> new Drain(ReconnectDelay.of(message.getDrain().getPace()));
            case RENEWED ->
                new Renewed(RenewalResult.of(
                        message.getRenewed().getCertificate(),
                        message.getRenewed().getRefused()));
            case RENEWAL_ASKED ->
                new RenewalRequested(
                        message.getRenewalAsked().getId(),
                        CertificateName.parseReceived(
                                "from", message.getRenewalAsked().getFrom()),
                        RenewalResult.requireRequest(message.getRenewalAsked().getRequest()));
            case LEAVE -> ShutdownRequest.of(message.getLeave().getWithinMs());
            case KIND_NOT_SET -> new UnknownMessage();
        };
    }

    default FromRelay wire() {
        FromRelay.Builder message = FromRelay.newBuilder();
        if (this instanceof Attached attached) {
            message.setAttached(org.cloister.protocol.link.wire.Attached.newBuilder()
                    .setRelay(attached.relay)
                    .setPace(attached.delay.wire())
                    .setLists(attached.lists)
                    .setHead(attached.head));
        } else if (this instanceof Served served) {
            message.setServed(org.cloister.protocol.link.wire.Served.newBuilder()
                    .setName(served.name.toString())
                    .setRefused(served.refused.map(CloseReason::toString).orElse("")));
        } else if (this instanceof Dial dial) {
            message.setDial(org.cloister.protocol.link.wire.Dial.newBuilder()
                    .setToken(ByteString.copyFrom(dial.token.bytes()))
                    .setFrom(dial.from.toString())
                    .setTo(dial.to.toString())
                    .setPolicy(ByteString.copyFrom(HexFormat.of().parseHex(dial.policy.hex()))));
        } else if (this instanceof Revocations revocations) {
            message.setRevocations(
                    org.cloister.protocol.link.wire.Revocations.newBuilder().setSigned(revocations.signed));
        } else if (this instanceof Drain drain) {
            message.setDrain(org.cloister.protocol.link.wire.Drain.newBuilder().setPace(drain.delay.wire()));
        } else if (this instanceof Renewed renewed) {
            message.setRenewed(org.cloister.protocol.link.wire.Renewed.newBuilder()
                    .setCertificate(renewed.outcome.certificate())
                    .setRefused(renewed.outcome.refused()));
        } else if (this instanceof RenewalRequested renewal) {
            message.setRenewalAsked(org.cloister.protocol.link.wire.RenewalAsked.newBuilder()
                    .setId(renewal.id)
                    .setFrom(renewal.from.toString())
                    .setRequest(renewal.request));
        } else if (this instanceof ShutdownRequest request) {
            message.setLeave(
                    org.cloister.protocol.link.wire.Leave.newBuilder().setWithinMs((int) request.within.toMillis()));
        }
        return message.build();
    }

    /** Reads a SHA-384 from the wire. */
    static Digest policy(ByteString bytes) throws MalformedException {
        try {
            return new Digest(Digest.Algorithm.SHA384, HexFormat.of().formatHex(bytes.toByteArray()));
        } catch (IllegalArgumentException e) {
            throw new MalformedException("policy: want 48 bytes, have " + bytes.size(), e);
        }
    }

    private static Dial dial(org.cloister.protocol.link.wire.Dial dial) throws MalformedException {
        return new Dial(
                DialBackToken.of(dial.getToken().toByteArray()),
                CertificateName.parseReceived("from", dial.getFrom()),
                CertificateName.parseReceived("to", dial.getTo()),
                policy(dial.getPolicy()));
    }

    private static Served served(org.cloister.protocol.link.wire.Served served) throws MalformedException {
        CertificateName name = CertificateName.parseReceived("served", served.getName());
        return new Served(
                name,
                served.getRefused().isEmpty() ? Optional.empty() : Optional.of(CloseReason.parse(served.getRefused())));
    }

    private static int lists(int count) throws MalformedException {
        if (count < 0 || count > ProtocolLimits.LISTS) {
            throw new MalformedException("attached: want at most " + ProtocolLimits.LISTS + " lists, have "
                    + Integer.toUnsignedString(count));
        }
        return count;
    }

    private static String relay(String text) throws MalformedException {
        if (text.length() > 255 || !text.chars().allMatch(c -> c > ' ' && c <= '~')) {
            throw new MalformedException("relay: want at most 255 printable ASCII characters, have " + text.length());
        }
        return text;
    }
}
