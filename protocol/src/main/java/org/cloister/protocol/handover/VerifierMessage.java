package org.cloister.protocol.handover;

import com.google.protobuf.InvalidProtocolBufferException;
import java.util.List;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.wire.FromVerifier;
import org.cloister.protocol.link.CriticalFields;

/**
 * Messages of the verifier to a booting VM: of the controlling VM to a worker, of an opener's agentctl to a controlling
 * VM; docs/protocol.md, section 11.
 */
public sealed interface VerifierMessage
        permits VerifierMessage.Question,
                VerifierMessage.Denied,
                HandoverDocument,
                ProjectUnlock,
                ReadmissionGrant,
                VerifierMessage.Release,
                VerifierMessage.LeaseRenewal,
                VerifierMessage.Acknowledgement,
                VerifierMessage.UnknownMessage {
    /** Requests the VM's evidence; once and first on a circuit with a booting VM. */
    record Question(Nonce nonce) implements VerifierMessage {}

    /**
     * Refuses the hand-over; the circuit ends.
     *
     * @param clauses ids of the clauses of section 11 that deny, each once
     * @param text for people
     */
    record Denied(List<String> clauses, String text) implements VerifierMessage {
        private static final Pattern CLAUSE = Pattern.compile("[a-z][a-z-]{0,39}");
        private static final int MAX_CLAUSES = 32;
        private static final int MAX_TEXT = 4096;

        /** @throws IllegalArgumentException if there is no clause, or a value is out of its range */
        public Denied {
            clauses = List.copyOf(clauses);
            HandoverChecks.within("clauses", clauses.size(), 1, MAX_CLAUSES);
            for (String clause : clauses) {
                HandoverChecks.that(CLAUSE.matcher(clause).matches(), "clause", "a word", HandoverChecks.other(clause));
            }
            HandoverChecks.that(
                    clauses.stream().distinct().count() == clauses.size(), "clauses", "each once", "one twice");
            HandoverChecks.that(
                    text.length() <= MAX_TEXT && text.chars().allMatch(c -> c >= ' ' && c <= '~'),
                    "text",
                    "at most " + MAX_TEXT + " printable ASCII characters",
                    HandoverChecks.other(text));
        }
    }

    /** Requests a worker's orderly shutdown. */
    record Release() implements VerifierMessage {}

    /** Renews a worker's lease. */
    record LeaseRenewal() implements VerifierMessage {}

    /** Confirms that the opener's device has shown the end report of {@link VmMessage.Opened}. */
    record Acknowledgement() implements VerifierMessage {}

    /** Message of a later version, which the reader skips. */
    record UnknownMessage() implements VerifierMessage {}

    static VerifierMessage read(byte[] bytes) throws MalformedException {
        try {
            FromVerifier message = FromVerifier.parseFrom(bytes);
            CriticalFields.require(message.getCriticalList(), FromVerifier.ACKNOWLEDGEMENT_FIELD_NUMBER);
            return switch (message.getKindCase()) {
                case QUESTION ->
                    new Question(HandoverEncoding.nonce(message.getQuestion().getNonce()));
                case DENIED ->
                    new Denied(
                            message.getDenied().getClausesList(),
                            message.getDenied().getText());
                case HAND_OVER -> HandoverEncoding.read(message.getHandOver());
                case UNLOCK -> HandoverEncoding.read(message.getUnlock());
                case RELEASE -> new Release();
                case BEAT -> new LeaseRenewal();
                case READMISSION -> HandoverEncoding.read(message.getReadmission());
                case ACKNOWLEDGEMENT -> new Acknowledgement();
                case KIND_NOT_SET -> new UnknownMessage();
            };
        } catch (InvalidProtocolBufferException | IllegalArgumentException e) {
            throw new MalformedException("message of the verifier: " + e.getMessage(), e);
        }
    }

    default FromVerifier wire() {
        FromVerifier.Builder message = FromVerifier.newBuilder();
        if (this instanceof Question question) {
            message.setQuestion(org.cloister.protocol.handover.wire.Question.newBuilder()
                    .setNonce(HandoverEncoding.bytes(question.nonce)));
        } else if (this instanceof Denied denied) {
            message.setDenied(org.cloister.protocol.handover.wire.Denied.newBuilder()
                    .addAllClauses(denied.clauses)
                    .setText(denied.text));
        } else if (this instanceof HandoverDocument handOver) {
            message.setHandOver(HandoverEncoding.of(handOver));
        } else if (this instanceof ProjectUnlock unlock) {
            message.setUnlock(HandoverEncoding.of(unlock));
        } else if (this instanceof ReadmissionGrant readmission) {
            message.setReadmission(HandoverEncoding.of(readmission));
        } else if (this instanceof Release) {
            message.setRelease(org.cloister.protocol.handover.wire.Release.getDefaultInstance());
        } else if (this instanceof LeaseRenewal) {
            message.setBeat(org.cloister.protocol.handover.wire.Beat.getDefaultInstance());
        } else if (this instanceof Acknowledgement) {
            message.setAcknowledgement(org.cloister.protocol.handover.wire.Acknowledgement.getDefaultInstance());
        }
        return message.build();
    }
}
