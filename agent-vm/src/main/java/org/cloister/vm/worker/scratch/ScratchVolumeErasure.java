package org.cloister.vm.worker.scratch;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.vm.system.mount.MountHolder;

/**
 * Result of erasing a worker's scratch volume; a worker's part of the receipt contains {@code erased}
 * (docs/protocol.md, section 15).
 *
 * @param erased when the volume's key was destroyed and its header overwritten; empty if there was no volume, or
 *     erasure failed
 * @param holders processes that still had a file of it open
 * @param error why erasure failed; empty if it succeeded
 */
public record ScratchVolumeErasure(Optional<Instant> erased, List<MountHolder> holders, String error) {
    public ScratchVolumeErasure {
        holders = List.copyOf(holders);
    }
}
