package org.cloister.relay.state;

import java.time.Instant;
import java.util.Optional;
import org.cloister.base.encoding.Digest;

/**
 * Who asked for what with a ticket or an opening; it never changes.
 *
 * @param signer dNSName of the controlling VM, or of the opener
 * @param digest SHA-256 of the payload
 * @param sequence of an opening the drive's epoch and number 0
 * @param cpus on all nodes
 * @param memoryMib on all nodes; 0 where a whole node is asked for
 * @param account charged by Global Slurm
 * @param accepted to the millisecond
 * @param drive of an opening; empty of a ticket
 */
public record TicketRequest(
        String id,
        String project,
        String signer,
        Digest digest,
        TicketSequence sequence,
        int nodes,
        long cpus,
        long memoryMib,
        String account,
        Instant accepted,
        Optional<String> drive) {
    public boolean isOpening() {
        return drive.isPresent();
    }
}
