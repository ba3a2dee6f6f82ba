package org.cloister.vm.handover;

import java.util.Optional;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.SlotName;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.vm.worker.Phase;
import org.cloister.vm.worker.WorkerEvent;
import org.cloister.vm.worker.WorkerEvent.Trouble;

/** What a worker says, in the queue's words. */
final class WorkerNews {
    private WorkerNews() {}

    static WorkerEvent ready(Expected.Place place) {
        int slot = place.slot().slot();
        return new WorkerEvent.NodeReady(place.ticket(), slot, SlotName.label(place.ticket(), slot));
    }

    /** Empty for a phase that no worker has. */
    static Optional<WorkerEvent> passed(Expected.Place place, VmMessage.Passed passed) {
        return phase(passed.phase())
                .map(phase ->
                        new WorkerEvent.Passed(place.ticket(), place.slot().slot(), phase, passed.took()));
    }

    static WorkerEvent gone(Expected.Place place, BootPhase at, String code) {
        return new WorkerEvent.NodeGone(
                place.ticket(),
                place.slot().slot(),
                new Trouble(
                        phase(at).orElse(Phase.BOOT),
                        code,
                        "the VM on " + place.slot().node() + " gave up: " + code,
                        "the project's log has more",
                        true));
    }

    /** The slot is spent and has no worker: what was handed over went with its circuit, and no host is to blame for that. */
    static WorkerEvent lost(Expected.Place place) {
        return new WorkerEvent.NodeGone(
                place.ticket(),
                place.slot().slot(),
                new Trouble(
                        Phase.KEYS,
                        "denied-spent",
                        "the circuit to the VM on " + place.slot().node() + " broke during its hand-over",
                        "",
                        true));
    }

    private static Optional<Phase> phase(BootPhase phase) {
        return switch (phase) {
            case BOOT -> Optional.of(Phase.BOOT);
            case EVIDENCE -> Optional.of(Phase.EVIDENCE);
            case KEYS -> Optional.of(Phase.KEYS);
            case DRIVE -> Optional.empty();
            case TUNNEL -> Optional.of(Phase.TUNNEL);
            case REGISTRATION -> Optional.of(Phase.REGISTRATION);
            case TEARDOWN -> Optional.of(Phase.TEARDOWN);
        };
    }
}
