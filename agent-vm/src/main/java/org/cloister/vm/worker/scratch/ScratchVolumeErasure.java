package org.cloister.vm.worker.scratch;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.vm.system.mount.MountHolder;

/**
 * What a worker can say of its scratch volume at the end; a worker's part of the receipt takes {@code erased} from here
 * (docs/protocol.md, section 15).
 *
 * @param erased when the volume's key was destroyed and its header overwritten; empty if there was no volume, or it
 *     could not be
 * @param holders who still had a file of it open
 * @param error why it could not be; empty if it was
 */
public record ScratchVolumeErasure(Optional<Instant> erased, List<MountHolder> holders, String error) {
    public ScratchVolumeErasure {
        holders = List.copyOf(holders);
    }
}
