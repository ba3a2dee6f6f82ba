package org.cloister.relay.state;

import java.time.Instant;
import java.util.Optional;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.ticket.TicketPosition;

/**
 * Immutable request of a ticket or an opening.
 *
 * @param signer dNSName of the controlling VM, or of the opener
 * @param digest SHA-256 of the payload
 * @param position for an opening the drive's epoch and number 0
 * @param cpus number of CPUs on all nodes together
 * @param memoryMib memory of all nodes together in MiB; 0 where whole nodes are requested
 * @param account account that the Global Slurm charges
 * @param accepted time to the millisecond
 * @param drive the drive of an opening; empty for a ticket
 */
public record TicketRequest(
        String id,
        String project,
        String signer,
        Digest digest,
        TicketPosition position,
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
