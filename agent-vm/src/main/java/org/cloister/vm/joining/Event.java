package org.cloister.vm.joining;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.Place;
import org.cloister.protocol.handover.VerifierMessage;

/** What a {@link Course} hears. */
sealed interface Event {
    /** The channel to the host is there. */
    record Attached() implements Event {}

    record Detached() implements Event {}

    /**
     * The circuit that was called for.
     *
     * @param fresh of no other circuit
     */
    record Opened(Nonce fresh) implements Event {}

    /** The circuit is over, or did not come about. */
    record Closed() implements Event {}

    record Heard(VerifierMessage message) implements Event {}

    /**
     * @param nonce that was asked with
     * @param clock this VM's
     */
    record Vouched(Nonce nonce, ByteString statement, Instant clock) implements Event {}

    /** @param why empty if the host did not answer */
    record NotVouched(Nonce nonce, Optional<EvidenceMessage.Why> why) implements Event {}

    /**
     * @param renewal after which the certificate wants a newer one
     * @param place of this VM
     */
    record Taken(Duration lease, Duration renewal, Place place) implements Event {}

    /**
     * What was given, first or anew.
     *
     * @param phase to which belongs the check or the change that failed
     */
    record NotTaken(BootPhase phase, String code) implements Event {}

    /**
     * @param fresh of the circuit on which it came
     * @param renewal after which the certificate wants a newer one
     */
    record Readmitted(Nonce fresh, Duration lease, Duration renewal) implements Event {}

    record Did(Step step) implements Event {}

    record Failed(Step step) implements Event {}

    /** As far as it could be. */
    record Undid(Step step) implements Event {}

    /** @param part the worker's, of the receipt: an envelope; empty if it could not be made */
    record Signed(Optional<ByteString> part) implements Event {}

    /** SIGTERM. */
    record Stop() implements Event {}

    /**
     * The host ends this VM.
     *
     * @param within whatever it does
     */
    record EndedByHost(Duration within) implements Event {}

    /** {@link Course#wakeNs} is past. */
    record Woke() implements Event {}
}
