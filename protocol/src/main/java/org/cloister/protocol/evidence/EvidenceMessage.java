package org.cloister.protocol.evidence;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import java.util.Locale;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.wire.FromHost;
import org.cloister.protocol.evidence.wire.FromVm;
import org.cloister.protocol.link.CriticalFields;

/** Messages about evidence between a VM and its host; docs/protocol.md, section 11. */
public sealed interface EvidenceMessage {
    /** Limit of an envelope with the longest statement: base64's overhead and one signature are added. */
    int MAX_ENVELOPE = 192 * 1024;

    MessageLite wire();

    /** The VM's request. */
    record Request(AttestationClaims claim) implements EvidenceMessage {
        @Override
        public FromVm wire() {
            return FromVm.newBuilder()
                    .setSigning(ByteString.copyFrom(claim.keys().signing().encoded()))
                    .setSealing(ByteString.copyFrom(claim.keys().sealing().encoded()))
                    .setNonce(ByteString.copyFrom(
                            BinaryText.fromBase64(claim.nonce().base64(), Nonce.BYTES)))
                    .setBinding(ByteString.copyFrom(claim.binding().digest().bytes()))
                    .build();
        }
    }

    /** The host's response. */
    sealed interface Response extends EvidenceMessage {}

    /**
     * Grants evidence.
     *
     * @param statement signed by the host; the VM forwards it and need not understand it
     */
    record Granted(DsseEnvelope statement) implements Response {
        @Override
        public FromHost wire() {
            return FromHost.newBuilder()
                    .setStatement(ByteString.copyFrom(statement.bytes()))
                    .build();
        }
    }

    record Refused(RefusalReason reason) implements Response {
        @Override
        public FromHost wire() {
            return FromHost.newBuilder().setRefused(reason.toString()).build();
        }
    }

    /** Reasons why a host refuses evidence. The host sends no further detail: that is in its own log. */
    enum RefusalReason {
        /** This life of the VM has another statement, or one that cannot be read; the refusal is permanent. */
        ANOTHER,
        /** The last request was too recent or is still in progress; retry after a second. */
        BUSY,
        /** The statement could not be recorded or signed; retry after some seconds. */
        FAILED;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }

        public static RefusalReason parse(String word) throws MalformedException {
            for (RefusalReason why : values()) {
                if (why.toString().equals(word)) {
                    return why;
                }
            }
            throw new MalformedException("evidence: refused: want another, busy or failed, have another word of "
                    + word.length() + " characters");
        }
    }

    /** Parses what a VM sent; the bytes may be arbitrary. */
    static Request readRequest(byte[] bytes) throws MalformedException {
        try {
            FromVm message = FromVm.parseFrom(bytes);
            CriticalFields.require(message.getCriticalList(), FromVm.BINDING_FIELD_NUMBER);
            BootPublicKeys keys = new BootPublicKeys(
                    VerificationKey.parse(message.getSigning().toByteArray()),
                    VerificationKey.parse(message.getSealing().toByteArray()));
            Nonce nonce = new Nonce(BinaryText.base64(message.getNonce().toByteArray()));
            Digest binding =
                    Digest.of(Digest.Algorithm.SHA384, message.getBinding().toByteArray());
            return new Request(new AttestationClaims(keys, nonce, new CircuitBinding(binding)));
        } catch (InvalidProtocolBufferException | IllegalArgumentException e) {
            throw new MalformedException("evidence asked for: " + e.getMessage(), e);
        }
    }

    /** Parses what a host sent; the bytes may be arbitrary. */
    static Response readResponse(byte[] bytes) throws MalformedException {
        FromHost message;
        try {
            message = FromHost.parseFrom(bytes);
        } catch (InvalidProtocolBufferException e) {
            throw new MalformedException("evidence: " + e.getMessage(), e);
        }
        CriticalFields.require(message.getCriticalList(), FromHost.REFUSED_FIELD_NUMBER);
        return switch (message.getKindCase()) {
            case STATEMENT ->
                new Granted(DsseEnvelope.parse(message.getStatement().toByteArray(), MAX_ENVELOPE));
            case REFUSED -> new Refused(RefusalReason.parse(message.getRefused()));
            case KIND_NOT_SET -> throw new MalformedException("evidence: want a statement or a refusal, have neither");
        };
    }
}
