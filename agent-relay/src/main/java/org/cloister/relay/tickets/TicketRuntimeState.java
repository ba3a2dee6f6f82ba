package org.cloister.relay.tickets;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.relay.slurm.NodeAllocation;

/** What the relay knows of an open ticket beside its record, and may forget with the process. On the records' thread. */
final class TicketRuntimeState {
    final String id;
    final String project;
    /** Who signed it; empty if that is not believed any more. */
    Optional<CertifiedIdentity> signer;
    /** A command about it is on its way to Slurm. */
    boolean busy;
    /** Before this, what was sent to Slurm may still arrive there; {@link System#nanoTime}. */
    long settledNs;
    /** What Slurm was asked before this is old. */
    long changedNs;
    /** Commands in a row that Slurm did not answer. */
    int failures;
    /** Why it is to end, beside a withdrawal. */
    Optional<TicketEnd> stop = Optional.empty();

    long cancelledNs;
    /** Its nodes' shares, once Slurm has said them. */
    List<NodeAllocation> shares = List.of();
    /** Since when hosts of its nodes are missed; 0 if none is. */
    long missingNs;
    /** Hosts whose job step came before the allocation was signed. */
    final List<PendingClaim> claims = new ArrayList<>();

    /** @param retry asks anew */
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
