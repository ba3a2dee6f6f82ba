package org.cloister.protocol.link;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import java.util.HexFormat;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.wire.FromAgent;

/** Messages of an agent on its attach stream; docs/protocol.md, section 8. */
public sealed interface AgentMessage {
    /**
     * Opens the attachment; the first message.
     *
     * @param software for the operator: printable ASCII, at most 64 characters
     */
    record Attach(String software) implements AgentMessage {}

    /** Offers circuits to a name from now on. */
    record Serve(CertificateName name) implements AgentMessage {}

    record Unserve(CertificateName name) implements AgentMessage {}

    record DialRefused(DialBackToken token, CloseReason reason) implements AgentMessage {}

    /**
     * Confirms that a revocation list is in force at the agent.
     *
     * @param list SHA-256 of the list as it was received
     */
    record RevocationsKept(Digest list) implements AgentMessage {}

    /**
     * Requests the renewal of the agent's certificate.
     *
     * @param request an enrolment request without a proof, which only the registration authority reads
     */
    record Renew(ByteString request) implements AgentMessage {}

    /**
     * Answers a renewal request; from the registration authority only.
     *
     * @param id of the request
     */
    record RenewalAnswered(long id, RenewalResult outcome) implements AgentMessage {}

    /**
     * Delivers a revocation list; from the registration authority only.
     *
     * @param signed a revocation list, which each recipient verifies
     */
    record DeliverRevocations(ByteString signed) implements AgentMessage {}

    /** Message of a later version, which the reader skips. */
    record UnknownMessage() implements AgentMessage {}

    static AgentMessage read(byte[] bytes) throws MalformedException {
        FromAgent message;
        try {
            message = FromAgent.parseFrom(bytes);
        } catch (InvalidProtocolBufferException e) {
            throw new MalformedException("message of an agent: " + e.getMessage(), e);
        }
        CriticalFields.require(message.getCriticalList(), FromAgent.DELIVER_REVOCATIONS_FIELD_NUMBER);
        return switch (message.getKindCase()) {
            case ATTACH -> new Attach(software(message.getAttach().getSoftware()));
            case SERVE ->
                new Serve(CertificateName.parseReceived(
                        "serve", message.getServe().getName()));
            case UNSERVE ->
                new Unserve(CertificateName.parseReceived(
                        "unserve", message.getUnserve().getName()));
            case DIAL_REFUSED ->
                new DialRefused(
                        DialBackToken.of(message.getDialRefused().getToken().toByteArray()),
                        CloseReason.parse(message.getDialRefused().getReason()));
            case REVOCATIONS_KEPT -> kept(message.getRevocationsKept().getDigest());
            case RENEW ->
                new Renew(RenewalResult.requireRequest(message.getRenew().getRequest()));
            case RENEWAL_ANSWERED ->
                new RenewalAnswered(
                        message.getRenewalAnswered().getId(),
                        RenewalResult.of(
                                message.getRenewalAnswered().getCertificate(),
                                message.getRenewalAnswered().getRefused()));
            case DELIVER_REVOCATIONS ->
                new DeliverRevocations(message.getDeliverRevocations().getSigned());
            case KIND_NOT_SET -> new UnknownMessage();
        };
    }

    default FromAgent wire() {
        FromAgent.Builder message = FromAgent.newBuilder();
        if (this instanceof Attach attach) {
            message.setAttach(
                    org.cloister.protocol.link.wire.Attach.newBuilder().setSoftware(attach.software));
        } else if (this instanceof Serve serve) {
            message.setServe(org.cloister.protocol.link.wire.Serve.newBuilder().setName(serve.name.toString()));
        } else if (this instanceof Unserve unserve) {
            message.setUnserve(
                    org.cloister.protocol.link.wire.Unserve.newBuilder().setName(unserve.name.toString()));
        } else if (this instanceof DialRefused refused) {
            message.setDialRefused(org.cloister.protocol.link.wire.DialRefused.newBuilder()
                    .setToken(ByteString.copyFrom(refused.token.bytes()))
                    .setReason(refused.reason.toString()));
        } else if (this instanceof RevocationsKept kept) {
            message.setRevocationsKept(org.cloister.protocol.link.wire.RevocationsKept.newBuilder()
                    .setDigest(ByteString.copyFrom(HexFormat.of().parseHex(kept.list.hex()))));
        } else if (this instanceof Renew renew) {
            message.setRenew(org.cloister.protocol.link.wire.Renew.newBuilder().setRequest(renew.request));
        } else if (this instanceof RenewalAnswered answered) {
            message.setRenewalAnswered(org.cloister.protocol.link.wire.RenewalAnswered.newBuilder()
                    .setId(answered.id)
                    .setCertificate(answered.outcome.certificate())
                    .setRefused(answered.outcome.refused()));
        } else if (this instanceof DeliverRevocations delivery) {
            message.setDeliverRevocations(org.cloister.protocol.link.wire.DeliverRevocations.newBuilder()
                    .setSigned(delivery.signed));
        }
        return message.build();
    }

    private static RevocationsKept kept(ByteString digest) throws MalformedException {
        try {
            return new RevocationsKept(
                    new Digest(Digest.Algorithm.SHA256, HexFormat.of().formatHex(digest.toByteArray())));
        } catch (IllegalArgumentException e) {
            throw new MalformedException("revocations kept: want 32 bytes, have " + digest.size(), e);
        }
    }

    private static String software(String text) throws MalformedException {
        if (text.length() > 64 || !text.chars().allMatch(c -> c >= ' ' && c <= '~')) {
            throw new MalformedException(
                    "software: want at most 64 printable ASCII characters, have " + text.length() + " of another kind");
        }
        return text;
    }
}
