package org.cloister.vm.controller.admission;

import java.util.Optional;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.cloister.vm.controller.tickets.WorkerPhase;

/** Converts workers' messages into events for the queue. */
final class WorkerEvents {
    private WorkerEvents() {}

    static WorkerEvent ready(ExpectedWorkers.ExpectedSlot expected) {
        int slot = expected.slot().slot();
        return new WorkerEvent.NodeReady(expected.ticket(), slot, WorkerName.label(expected.ticket(), slot));
    }

    /** Returns the event for a completed phase; empty for a phase that workers do not have. */
    static Optional<WorkerEvent> passed(ExpectedWorkers.ExpectedSlot expected, VmMessage.PhaseCompleted completed) {
        return phase(completed.phase())
                .map(phase -> new WorkerEvent.Passed(
                        expected.ticket(), expected.slot().slot(), phase, completed.took()));
    }

    static WorkerEvent gone(ExpectedWorkers.ExpectedSlot expected, BootPhase phase, String code) {
        return new WorkerEvent.NodeGone(
                expected.ticket(),
                expected.slot().slot(),
                new EndReason(
                        phase(phase).orElse(WorkerPhase.BOOT),
                        code,
                        "the VM on " + expected.slot().node() + " gave up: " + code,
                        "see the project's log",
                        true));
    }

    /**
     * Returns the event for a slot that is spent and has no worker: the hand-over was lost with its circuit, and no
     * host is to blame.
     */
    static WorkerEvent lost(ExpectedWorkers.ExpectedSlot expected) {
        return new WorkerEvent.NodeGone(
                expected.ticket(),
                expected.slot().slot(),
                new EndReason(
                        WorkerPhase.KEYS,
                        "denied-spent",
                        "the circuit to the VM on " + expected.slot().node() + " broke during its hand-over",
                        "",
                        true));
    }

    private static Optional<WorkerPhase> phase(BootPhase phase) {
        return switch (phase) {
            case BOOT -> Optional.of(WorkerPhase.BOOT);
            case EVIDENCE -> Optional.of(WorkerPhase.EVIDENCE);
            case KEYS -> Optional.of(WorkerPhase.KEYS);
            case DRIVE -> Optional.empty();
            case TUNNEL -> Optional.of(WorkerPhase.TUNNEL);
            case REGISTRATION -> Optional.of(WorkerPhase.REGISTRATION);
            case TEARDOWN -> Optional.of(WorkerPhase.TEARDOWN);
        };
    }
}
