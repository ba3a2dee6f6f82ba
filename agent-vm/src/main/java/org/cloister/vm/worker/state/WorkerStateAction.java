package org.cloister.vm.worker.state;

import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.ReadmissionGrant;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.vm.worker.steps.SetupStep;

/** What a {@link WorkerStateMachine} wants done, in the order in which it says so. */
public sealed interface WorkerStateAction {
    /** @param certified with the certificate that was handed over; else with the boot certificate */
    record OpenCircuit(boolean certified) implements WorkerStateAction {}

    record Send(VmMessage message) implements WorkerStateAction {}

    /** Everything was said. */
    record FinishOutput() implements WorkerStateAction {}

    /** For evidence. From now on this process' keys are the only ones of the VM's life. */
    record RequestEvidence(Nonce nonce) implements WorkerStateAction {}

    /** Check it, and open what is sealed in it. */
    record AcceptHandover(HandoverDocument handOver, Nonce nonce) implements WorkerStateAction {}

    /**
     * Check it, open what is sealed in it, and work with it in the place of what there is.
     *
     * @param fresh that the circuit was resumed with
     */
    record ApplyReadmission(ReadmissionGrant readmission, Nonce fresh) implements WorkerStateAction {}

    record ApplyStep(SetupStep step) implements WorkerStateAction {}

    /** It goes no further, and ends. */
    record StartShutdown(String reason, boolean failed) implements WorkerStateAction {}

    /** @param failed whether somebody will want to know what happened */
    record UndoStep(SetupStep step, boolean failed) implements WorkerStateAction {}

    /** The worker's part of the receipt. */
    record SignStatement() implements WorkerStateAction {}

    /** @param powerOff whether the VM ends too; else this process alone, and another one begins anew */
    record Terminate(boolean powerOff, String reason) implements WorkerStateAction {}
}
