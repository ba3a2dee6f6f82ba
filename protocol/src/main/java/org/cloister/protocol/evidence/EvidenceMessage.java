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

/** What VM and host say to each other about evidence; docs/protocol.md, section 11. */
public sealed interface EvidenceMessage {
    /** Of an envelope around the longest statement: what base64 adds, and one signature. */
    int MAX_ENVELOPE = 192 * 1024;

    MessageLite wire();

    /** The VM's. */
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

    /** The host's. */
    sealed interface Response extends EvidenceMessage {}

    /** @param statement signed by the host; the VM passes it on and need not understand it */
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

    /** Why a host does not vouch. More it does not say: the rest is its own affair, and in its log. */
    enum RefusalReason {
        /** This life of the VM has another statement, or one that cannot be read: there will be none. */
        ANOTHER,
        /** Too soon after the last question, or that one is still being answered: ask again after a second. */
        BUSY,
        /** It could not be recorded or signed: ask again after some seconds. */
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

    /** Whatever a VM sent. */
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

    /** Whatever a host sent. */
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
