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
    void addConfirmed(String place, String text) {
        if (all.stream()
                .noneMatch(each -> each.level() == ReceiptFinding.Level.WRONG
                        && each.place().equals(place))) {
            all.add(new ReceiptFinding(ReceiptFinding.Level.HOLDS, place, text));
        }
    }

    void claim(String place, String text) {
        all.add(new ReceiptFinding(ReceiptFinding.Level.CLAIM, place, text));
    }

    void unknown(String place, String text) {
        all.add(new ReceiptFinding(ReceiptFinding.Level.UNKNOWN, place, text));
    }

    void wrong(String place, String text) {
        all.add(new ReceiptFinding(ReceiptFinding.Level.WRONG, place, text));
    }

    void equal(String place, String name, Object want, Object have) {
        if (!want.equals(have)) {
            wrong(place, name + ": want " + want + ", have " + have);
        }
    }

    /**
     * Verifies an envelope and returns its parsed payload; empty, with a finding, if the key did not sign it or the
     * payload is malformed or of another type.
     */
    <T> Optional<T> signed(String place, byte[] bytes, String type, VerificationKey key, Reader<T> reader) {
        try {
            DsseEnvelope envelope = DsseEnvelope.parse(bytes, bytes.length);
            return Optional.of(reader.read(envelope.verify(type, List.of(key), 1)));
        } catch (MalformedException | EnvelopeRefusedException e) {
            wrong(place, String.valueOf(e.getMessage()));
            return Optional.empty();
        }
    }
}
