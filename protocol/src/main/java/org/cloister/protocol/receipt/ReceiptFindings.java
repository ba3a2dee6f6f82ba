package org.cloister.protocol.receipt;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.EnvelopeRefusedException;
import org.cloister.protocol.dsse.VerificationKey;

/** Collects the findings of a receipt's verification. */
final class ReceiptFindings {
    private final List<ReceiptFinding> all = new ArrayList<>();

    /** Parses the payload of an envelope whose signature was verified. */
    interface Reader<T> {
        T read(byte[] payload) throws MalformedException;
    }

    List<ReceiptFinding> all() {
        return List.copyOf(all);
    }

    /** Adds a confirmation, unless the place has a finding that something is wrong. */
    void addConfirmed(String subject, String text) {
        if (all.stream()
                .noneMatch(each -> each.level() == ReceiptFinding.Level.WRONG
                        && each.subject().equals(subject))) {
            all.add(new ReceiptFinding(ReceiptFinding.Level.HOLDS, subject, text));
        }
    }

    void claim(String subject, String text) {
        all.add(new ReceiptFinding(ReceiptFinding.Level.CLAIM, subject, text));
    }

    void unknown(String subject, String text) {
        all.add(new ReceiptFinding(ReceiptFinding.Level.UNKNOWN, subject, text));
    }

    void wrong(String subject, String text) {
        all.add(new ReceiptFinding(ReceiptFinding.Level.WRONG, subject, text));
    }

    void equal(String subject, String name, Object want, Object have) {
        if (!want.equals(have)) {
            wrong(subject, name + ": want " + want + ", have " + have);
        }
    }

    /**
     * Verifies an envelope and returns its parsed payload; empty, with a finding, if the key did not sign it or the
     * payload is malformed or of another type.
     */
    <T> Optional<T> signed(String subject, byte[] bytes, String type, VerificationKey key, Reader<T> reader) {
        try {
            DsseEnvelope envelope = DsseEnvelope.parse(bytes, bytes.length);
            return Optional.of(reader.read(envelope.verify(type, List.of(key), 1)));
        } catch (MalformedException | EnvelopeRefusedException e) {
            wrong(subject, String.valueOf(e.getMessage()));
            return Optional.empty();
        }
    }
}
