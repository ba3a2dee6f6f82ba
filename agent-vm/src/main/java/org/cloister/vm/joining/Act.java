package org.cloister.vm.joining;

import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.Readmission;
import org.cloister.protocol.handover.VmMessage;

/** What a {@link Course} wants done, in the order in which it says so. */
sealed interface Act {
    /** @param certified with the certificate that was handed over; else with the boot certificate */
    record Call(boolean certified) implements Act {}

    record Say(VmMessage message) implements Act {}

    /** Everything was said. */
    record HangUp() implements Act {}

    /** For evidence. From now on this process' keys are the only ones of the VM's life. */
    record AskHost(Nonce nonce) implements Act {}

    /** Check it, and open what is sealed in it. */
    record Take(HandOver handOver, Nonce nonce) implements Act {}

    /**
     * Check it, open what is sealed in it, and work with it in the place of what there is.
     *
     * @param fresh that the circuit was resumed with
     */
    record Readmit(Readmission readmission, Nonce fresh) implements Act {}

    record Do(Step step) implements Act {}

    /** It goes no further, and ends. */
    record Leave(String why, boolean failed) implements Act {}

    /** @param failed whether somebody will want to know what happened */
    record Undo(Step step, boolean failed) implements Act {}

    /** The worker's part of the receipt. */
    record Sign() implements Act {}

    /** @param powerOff whether the VM ends too; else this process alone, and another one begins anew */
    record End(boolean powerOff, String why) implements Act {}
}
