package org.cloister.relay.state;

import java.time.Instant;
import org.cloister.protocol.Digest;

/**
 * Who asked for what with a ticket; it never changes.
 *
 * @param controller the controlling VM's dNSName
 * @param digest SHA-256 of the ticket's payload
 * @param cpus on all nodes
 * @param memoryMib on all nodes; 0 where a whole node is asked for
 * @param account charged by Global Slurm
 * @param accepted to the millisecond
 */
public record TicketRequest(
        String id,
        String project,
        String controller,
        Digest digest,
        Sequence sequence,
        int nodes,
        long cpus,
        long memoryMib,
        String account,
        Instant accepted) {}
