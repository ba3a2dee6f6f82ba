package org.cloister.vm.controller.admission;

import java.util.Optional;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.cloister.vm.controller.tickets.WorkerPhase;

/** What a worker says, in the queue's words. */
final class WorkerEvents {
    private WorkerEvents() {}

    static WorkerEvent ready(ExpectedWorkers.ExpectedSlot place) {
        int slot = place.slot().slot();
        return new WorkerEvent.NodeReady(place.ticket(), slot, WorkerName.label(place.ticket(), slot));
    }

    /** Empty for a phase that no worker has. */
    static Optional<WorkerEvent> passed(ExpectedWorkers.ExpectedSlot place, VmMessage.PhaseCompleted passed) {
        return phase(passed.phase())
                .map(phase ->
                        new WorkerEvent.Passed(place.ticket(), place.slot().slot(), phase, passed.took()));
    }

    static WorkerEvent gone(ExpectedWorkers.ExpectedSlot place, BootPhase at, String code) {
        return new WorkerEvent.NodeGone(
                place.ticket(),
                place.slot().slot(),
                new EndReason(
                        phase(at).orElse(WorkerPhase.BOOT),
                        code,
                        "the VM on " + place.slot().node() + " gave up: " + code,
                        "the project's log has more",
                        true));
    }

    /** The slot is spent and has no worker: what was handed over went with its circuit, and no host is to blame for that. */
    static WorkerEvent lost(ExpectedWorkers.ExpectedSlot place) {
        return new WorkerEvent.NodeGone(
                place.ticket(),
                place.slot().slot(),
                new EndReason(
                        WorkerPhase.KEYS,
                        "denied-spent",
                        "the circuit to the VM on " + place.slot().node() + " broke during its hand-over",
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
