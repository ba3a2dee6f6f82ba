package org.cloister.vm.worker.state;

import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.ReadmissionGrant;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.vm.worker.steps.SetupStep;

/**
 * An action that a {@link WorkerStateMachine} requests; actions are performed in the order in which it returns them.
 */
public sealed interface WorkerStateAction {
    /**
     * Opens a circuit.
     *
     * @param certified whether with the certificate that was handed over; otherwise with the boot certificate
     */
    record OpenCircuit(boolean certified) implements WorkerStateAction {}

    record Send(VmMessage message) implements WorkerStateAction {}

    /** Closes the circuit's output after the last message. */
    record FinishOutput() implements WorkerStateAction {}

    /** Requests evidence from the host. From now on this process' keys are the only ones of the VM's life. */
    record RequestEvidence(Nonce nonce) implements WorkerStateAction {}

    /** Verifies a hand-over, and opens the secret sealed in it. */
    record AcceptHandover(HandoverDocument handOver, Nonce nonce) implements WorkerStateAction {}

    /**
     * Verifies a readmission, opens the secret sealed in it, and replaces the present credentials with it.
     *
     * @param fresh value with which the circuit was resumed
     */
    record ApplyReadmission(ReadmissionGrant readmission, Nonce fresh) implements WorkerStateAction {}

    record ApplyStep(SetupStep step) implements WorkerStateAction {}

    /** Starts the shutdown: no further step is applied. */
    record StartShutdown(String reason, boolean failed) implements WorkerStateAction {}

    /**
     * Undoes a step.
     *
     * @param failed whether the worker failed, so that its logs are of interest
     */
    record UndoStep(SetupStep step, boolean failed) implements WorkerStateAction {}

    /** Signs the worker's part of the receipt. */
    record SignStatement() implements WorkerStateAction {}

    /**
     * Ends the worker.
     *
     * @param powerOff whether the VM ends too; otherwise this process alone ends, and another one starts
     */
    record Terminate(boolean powerOff, String reason) implements WorkerStateAction {}
}
