package org.cloister.vm.joining;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.Statement;
import org.cloister.protocol.handover.BootWorld;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.HandOverWorld;
import org.cloister.protocol.handover.Place;
import org.cloister.protocol.handover.Readmission;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;

/** What a course hears of its host and its controlling VM. */
final class Heard {
    static final Nonce NONCE = Nonce.random(new SecureRandom());
    static final HandOver HAND_OVER = handOver();
    static final ByteString STATEMENT = statement();
    /** Of a circuit. */
    static final Nonce FRESH = Nonce.random(new SecureRandom());

    static final Place PLACE = new Place(BootWorld.TICKET, 3, "tq4bcfcxfokh6sbolidgqd2f3i", NONCE);
    static final VmMessage.Resume RESUME = new VmMessage.Resume(PLACE.ticket(), PLACE.slot(), PLACE.vm(), FRESH);
    static final Readmission READMISSION = readmission();

    private Heard() {}

    static Event.Vouched vouched() {
        return new Event.Vouched(NONCE, STATEMENT, Instant.EPOCH);
    }

    /** Of a worker that is a node. */
    static Course serving(long nowNs) {
        Course course = upTo(Step.SLURMD, nowNs);
        course.on(new Event.Did(Step.SLURMD), nowNs);
        return course;
    }

    /** Of a worker that has begun this step. */
    static Course upTo(Step last, long nowNs) {
        Course course = Course.assigned(Duration.ofSeconds(4), nowNs);
        for (Event event : List.of(
                new Event.Attached(),
                new Event.Opened(FRESH),
                new Event.Heard(new VerifierMessage.Question(NONCE)),
                vouched(),
                new Event.Heard(HAND_OVER),
                new Event.Taken(Duration.ofMinutes(10), Duration.ofHours(12), PLACE))) {
            course.on(event, nowNs);
        }
        for (Step step : EnumSet.range(Step.MEMORY, last)) {
            if (step != last) {
                course.on(new Event.Did(step), nowNs);
            }
        }
        return course;
    }

    private static HandOver handOver() {
        try {
            return new HandOverWorld().handOver();
        } catch (IOException | GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static Readmission readmission() {
        try {
            return new HandOverWorld().readmission();
        } catch (IOException | GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static ByteString statement() {
        try {
            SigningKey key = SigningKey.of(BootWorld.pair(Curve.P256));
            return ByteString.copyFrom(
                    Envelope.sign(Statement.TYPE, new byte[2], key).bytes());
        } catch (IOException | GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }
}
