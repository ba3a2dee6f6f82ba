package org.cloister.vm.scratch;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.vm.machine.Holder;

/**
 * What a worker can say of its scratch volume at the end; a worker's part of the receipt takes {@code erased} from here
 * (docs/protocol.md, section 15).
 *
 * @param erased when the volume's key was destroyed and its header overwritten; empty if there was no volume, or it could not
 *     be
 * @param holders who still had a file of it open
 * @param trouble why it could not be; empty if it was
 */
public record Erasure(Optional<Instant> erased, List<Holder> holders, String trouble) {
    public Erasure {
        holders = List.copyOf(holders);
    }
}
