package org.cloister.relay.tickets;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.relay.slurm.NodeAllocation;

/**
 * State of an open ticket that is not in its record and that a restart of the relay may lose. Used on the records
 * thread.
 */
final class TicketRuntimeState {
    final String id;
    final String project;
    /** The ticket's signer; empty if it is no longer trusted. */
    Optional<CertifiedIdentity> signer;
    /** Set while a command for the ticket is being sent to Slurm. */
    boolean busy;
    /** Time until which earlier submissions may still arrive at Slurm; {@link System#nanoTime}. */
    long settledNs;
    /** Answers to queries that were sent to Slurm before this time are outdated. */
    long changedNs;
    /** Number of consecutive commands that Slurm did not answer. */
    int failures;
    /** Reason to end the ticket, other than a withdrawal. */
    Optional<TicketEnd> stop = Optional.empty();

    long cancelledNs;
    /** CPUs and memory of the job's nodes, once Slurm has reported them. */
    List<NodeAllocation> shares = List.of();
    /** Time since when hosts of its nodes are missing; 0 if none is. */
    long missingNs;
    /** Claims of hosts whose job step started before the allocation was signed. */
    final List<PendingClaim> claims = new ArrayList<>();

    /**
     * Claim that waits for the allocation.
     *
     * @param retry claims again
     */
    record PendingClaim(TicketPeer peer, Runnable retry, long sinceNs) {}

    TicketRuntimeState(String id, String project, Optional<CertifiedIdentity> signer, long nowNs, long settledNs) {
        this.id = id;
        this.project = project;
        this.signer = signer;
        this.changedNs = nowNs;
        this.settledNs = settledNs;
        this.cancelledNs = nowNs - Long.MAX_VALUE / 2;
    }
}
