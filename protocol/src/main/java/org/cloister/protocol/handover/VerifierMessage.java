package org.cloister.protocol.handover;

import com.google.protobuf.InvalidProtocolBufferException;
import java.util.List;
import java.util.regex.Pattern;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.wire.FromVerifier;
import org.cloister.protocol.link.Critical;

/**
 * What the verifier says to a VM that boots: the controlling VM to a worker, an opener's agentctl to a controlling VM;
 * docs/protocol.md, section 11.
 */
public sealed interface VerifierMessage
        permits VerifierMessage.Question,
                VerifierMessage.Denied,
                HandOver,
                Unlock,
                Readmission,
                VerifierMessage.Release,
                VerifierMessage.Beat,
                VerifierMessage.Skipped {
    /** Who are you? Once and first on a circuit with a VM that boots. */
    record Question(Nonce nonce) implements VerifierMessage {}

    /**
     * Nothing is handed over; the circuit ends.
     *
     * @param clauses ids of those of section 11 that deny, each once
     * @param text for people
     */
    record Denied(List<String> clauses, String text) implements VerifierMessage {
        private static final Pattern CLAUSE = Pattern.compile("[a-z][a-z-]{0,39}");
        private static final int MAX_CLAUSES = 32;
        private static final int MAX_TEXT = 4096;

        /** @throws IllegalArgumentException if there is no clause, or a value is out of its range */
        public Denied {
            clauses = List.copyOf(clauses);
            Require.within("clauses", clauses.size(), 1, MAX_CLAUSES);
            for (String clause : clauses) {
                Require.that(CLAUSE.matcher(clause).matches(), "clause", "a word", Require.other(clause));
            }
            Require.that(clauses.stream().distinct().count() == clauses.size(), "clauses", "each once", "one twice");
            Require.that(
                    text.length() <= MAX_TEXT && text.chars().allMatch(c -> c >= ' ' && c <= '~'),
                    "text",
                    "at most " + MAX_TEXT + " printable ASCII characters",
                    Require.other(text));
        }
    }

    /** To a worker: end well. */
    record Release() implements VerifierMessage {}

    /** To a worker: its lease begins anew. */
    record Beat() implements VerifierMessage {}

    /** Of a later version, to be skipped. */
    record Skipped() implements VerifierMessage {}

    static VerifierMessage read(byte[] bytes) throws MalformedException {
        try {
            FromVerifier message = FromVerifier.parseFrom(bytes);
            Critical.require(message.getCriticalList(), FromVerifier.READMISSION_FIELD_NUMBER);
            return switch (message.getKindCase()) {
                case QUESTION -> new Question(Wire.nonce(message.getQuestion().getNonce()));
                case DENIED ->
                    new Denied(
                            message.getDenied().getClausesList(),
                            message.getDenied().getText());
                case HAND_OVER -> Wire.read(message.getHandOver());
                case UNLOCK -> Wire.read(message.getUnlock());
                case RELEASE -> new Release();
                case BEAT -> new Beat();
                case READMISSION -> Wire.read(message.getReadmission());
                case KIND_NOT_SET -> new Skipped();
            };
        } catch (InvalidProtocolBufferException | IllegalArgumentException e) {
            throw new MalformedException("message of the verifier: " + e.getMessage(), e);
        }
    }

    default FromVerifier wire() {
        FromVerifier.Builder message = FromVerifier.newBuilder();
        if (this instanceof Question question) {
            message.setQuestion(
                    org.cloister.protocol.handover.wire.Question.newBuilder().setNonce(Wire.bytes(question.nonce)));
        } else if (this instanceof Denied denied) {
            message.setDenied(org.cloister.protocol.handover.wire.Denied.newBuilder()
                    .addAllClauses(denied.clauses)
                    .setText(denied.text));
        } else if (this instanceof HandOver handOver) {
            message.setHandOver(Wire.of(handOver));
        } else if (this instanceof Unlock unlock) {
            message.setUnlock(Wire.of(unlock));
        } else if (this instanceof Readmission readmission) {
            message.setReadmission(Wire.of(readmission));
        } else if (this instanceof Release) {
            message.setRelease(org.cloister.protocol.handover.wire.Release.getDefaultInstance());
        } else if (this instanceof Beat) {
            message.setBeat(org.cloister.protocol.handover.wire.Beat.getDefaultInstance());
        }
        return message.build();
    }
}
