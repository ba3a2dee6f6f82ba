package org.cloister.relay.tickets;

import java.security.GeneralSecurityException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.audit.AuditField;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.ProjectAddress;
import org.cloister.protocol.ticket.ProjectSubnet;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.slurm.NodeAllocation;
import org.cloister.relay.state.NetworkLease;
import org.cloister.relay.state.RelayDatabaseException;
import org.cloister.relay.state.TicketRow;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Assigns the nodes of a ticket's job to the ticket's slots once the host of each node is attached, and signs the
 * allocation. Runs on the records thread.
 */
final class AllocationSigner {
    private static final Logger LOG = LoggerFactory.getLogger(AllocationSigner.class);

    private final TicketLifecycleSettings settings;
    private final AttachedAgents agents;
    private final TicketUpdates updates;
    private final InstantSource clock;
    private final TicketJobTracker jobTracker;

    AllocationSigner(
            TicketLifecycleSettings settings,
            AttachedAgents agents,
            TicketUpdates updates,
            InstantSource clock,
            TicketJobTracker jobTracker) {
        this.settings = settings;
        this.agents = agents;
        this.updates = updates;
        this.clock = clock;
        this.jobTracker = jobTracker;
    }

    void assign(GroupCommitter.Context records, TicketRow row, TicketRuntimeState ticket, long job)
            throws RelayDatabaseException {
        boolean waits = row.state() == TicketState.ACCEPTED || row.state() == TicketState.QUEUED;
        if (!waits || row.withdrawn() || ticket.stop.isPresent()) {
            return;
        }
        NetworkLease lease = records.transaction().numbers().find(row.id()).orElseThrow();
        if (ticket.shares.size() != lease.addresses().size()) {
            LOG.error(
                    "no allocation ticket={} reason=\"expected {} nodes of its job, got {}\"",
                    row.id(),
                    lease.addresses().size(),
                    ticket.shares.size());
            jobTracker.stop(ticket, TicketEnd.NOT_STARTED);
            return;
        }
        int requestedMib = TicketRecords.request(
                        row, records.transaction().tickets().envelope(row.id()).orElseThrow())
                .memoryMib();
        try {
            Optional<List<AllocatedSlot>> slots = slots(ticket, lease, requestedMib);
            if (slots.isPresent()) {
                record(records, row, ticket, allocation(row, job, lease, slots.get()));
            } else {
                onMissingHost(ticket);
            }
        } catch (IllegalArgumentException e) {
            LOG.error("no allocation ticket={} reason=\"{}\"", row.id(), e.getMessage());
            jobTracker.stop(ticket, TicketEnd.NOT_STARTED);
        }
    }

    private Allocation allocation(TicketRow row, long job, NetworkLease lease, List<AllocatedSlot> slots) {
        return new Allocation(
                settings.relay(),
                row.request().project(),
                row.id(),
                row.request().digest(),
                job,
                clock.instant(),
                lease.vlan(),
                ProjectSubnet.parse(lease.network().toString()),
                slots);
    }

    private void record(GroupCommitter.Context records, TicketRow row, TicketRuntimeState ticket, Allocation allocation)
            throws RelayDatabaseException {
        DsseEnvelope signed;
        try {
            signed = allocation.sign(settings.key());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("an allocation cannot be signed: " + e.getMessage(), e);
        }
        List<String> nodes =
                allocation.slots().stream().map(AllocatedSlot::node).toList();
        records.transaction().tickets().recordRunning(row.id(), allocation.globalJob(), nodes);
        records.transaction().tickets().recordAllocation(row.id(), signed.bytes());
        records.event(updates.event("ticket.running", row).with(AuditField.GLOBAL_JOB, allocation.globalJob()));
        for (AllocatedSlot slot : allocation.slots()) {
            records.event(updates.event("slot.given", row)
                    .with(AuditField.SLOT, slot.slot())
                    .with(AuditField.NODE, slot.node())
                    .with(AuditField.HOST, slot.host().toString())
                    .with(AuditField.ADDRESS, slot.address().toString())
                    .with(AuditField.CPUS, slot.cpus())
                    .with(AuditField.MEMORY_MIB, slot.memoryMib()));
        }
        updates.sendUpdate(records, row.id());
        records.onCommitted(() -> {
            List<TicketRuntimeState.PendingClaim> waiting = List.copyOf(ticket.claims);
            ticket.claims.clear();
            waiting.forEach(each -> each.retry().run());
        });
    }

    /**
     * Returns the slots in Slurm's order of nodes; empty while a host is not attached.
     *
     * @param requestedMib memory of a VM in MiB where the site's Slurm does not allocate memory
     * @throws IllegalArgumentException if Slurm's answer yields no valid slots
     */
    private Optional<List<AllocatedSlot>> slots(TicketRuntimeState ticket, NetworkLease lease, int requestedMib) {
        List<AllocatedSlot> slots = new ArrayList<>();
        for (NodeAllocation share : ticket.shares) {
            Optional<CertifiedIdentity> host = agents.host(share.node());
            if (host.isEmpty()) {
                return Optional.empty();
            }
            int slot = slots.size();
            slots.add(new AllocatedSlot(
                    slot,
                    share.node(),
                    host.get().name(),
                    host.get().key(),
                    ProjectAddress.parse(lease.addresses().get(slot)),
                    share.cpus(),
                    share.memoryMib() == 0 ? requestedMib : share.memoryMib()));
        }
        return Optional.of(slots);
    }

    private void onMissingHost(TicketRuntimeState ticket) {
        long now = System.nanoTime();
        if (ticket.missingNs == 0) {
            ticket.missingNs = now;
            LOG.warn(
                    "waiting until the hosts of the ticket's nodes are attached ticket={} nodes={}",
                    ticket.id,
                    ticket.shares.stream().map(NodeAllocation::node).toList());
        } else if (now - ticket.missingNs > settings.times().hostTimeout().toNanos()) {
            jobTracker.stop(ticket, TicketEnd.NOT_STARTED);
        }
    }
}
