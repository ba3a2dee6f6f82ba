package org.cloister.protocol.receipt;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.EnvelopeRefusedException;
import org.cloister.protocol.dsse.VerificationKey;

/** What is found on the way through a receipt. */
final class ReceiptFindings {
    private final List<ReceiptFinding> all = new ArrayList<>();

    /** Reads the payload of an envelope whose signature holds. */
    interface Reader<T> {
        T read(byte[] payload) throws MalformedException;
    }

    List<ReceiptFinding> all() {
        return List.copyOf(all);
    }

    /** Unless something at the place is wrong. */
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

    /** What the key signed, read; empty if it did not, or it is something else. */
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
