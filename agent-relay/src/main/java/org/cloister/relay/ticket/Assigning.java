package org.cloister.relay.ticket;

import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.audit.Fact;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.ticket.Address;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.Network;
import org.cloister.protocol.ticket.Slot;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.slurm.NodeShare;
import org.cloister.relay.state.Lease;
import org.cloister.relay.state.StateException;
import org.cloister.relay.state.TicketRow;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gives a ticket's slots the nodes of its job, once each of their hosts is attached, and signs that. On the records' thread. */
final class Assigning {
    private static final Logger LOG = LoggerFactory.getLogger(Assigning.class);

    private final Office office;
    private final Following following;

    Assigning(Office office, Following following) {
        this.office = office;
        this.following = following;
    }

    void assign(Commits.Records records, TicketRow row, Tracked ticket, long job) throws StateException {
        boolean waits = row.state() == TicketState.ACCEPTED || row.state() == TicketState.QUEUED;
        if (!waits || row.withdrawn() || ticket.stop.isPresent()) {
            return;
        }
        Lease lease = records.transaction().numbers().held(row.id()).orElseThrow();
        if (ticket.shares.size() != lease.addresses().size()) {
            LOG.error(
                    "not assigned ticket={} reason=\"want {} nodes, have {}\"",
                    row.id(),
                    lease.addresses().size(),
                    ticket.shares.size());
            following.stop(ticket, TicketEnd.NOT_STARTED);
            return;
        }
        int asked = Papers.request(
                        row, records.transaction().tickets().envelope(row.id()).orElseThrow())
                .memoryMib();
        try {
            Optional<List<Slot>> slots = slots(ticket, lease, asked);
            if (slots.isPresent()) {
                record(records, row, ticket, allocation(row, job, lease, slots.get()));
            } else {
                miss(ticket);
            }
        } catch (IllegalArgumentException e) {
            LOG.error("not assigned ticket={} reason=\"{}\"", row.id(), e.getMessage());
            following.stop(ticket, TicketEnd.NOT_STARTED);
        }
    }

    private Allocation allocation(TicketRow row, long job, Lease lease, List<Slot> slots) {
        return new Allocation(
                office.terms.relay(),
                row.request().project(),
                row.id(),
                row.request().digest(),
                job,
                office.now(),
                lease.vlan(),
                Network.parse(lease.network().toString()),
                slots);
    }

    private void record(Commits.Records records, TicketRow row, Tracked ticket, Allocation allocation)
            throws StateException {
        Envelope signed;
        try {
            signed = allocation.sign(office.terms.key());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("an allocation cannot be signed: " + e.getMessage(), e);
        }
        List<String> nodes = allocation.slots().stream().map(Slot::node).toList();
        records.transaction().tickets().running(row.id(), allocation.globalJob(), nodes);
        records.transaction().tickets().allocated(row.id(), signed.bytes());
        records.event(office.event("ticket.running", row).with(Fact.GLOBAL_JOB, allocation.globalJob()));
        for (Slot slot : allocation.slots()) {
            records.event(office.event("slot.given", row)
                    .with(Fact.SLOT, slot.slot())
                    .with(Fact.NODE, slot.node())
                    .with(Fact.HOST, slot.host().toString())
                    .with(Fact.ADDRESS, slot.address().toString())
                    .with(Fact.CPUS, slot.cpus())
                    .with(Fact.MEMORY_MIB, slot.memoryMib()));
        }
        office.tell(records, row.id());
        records.afterwards(() -> {
            List<Tracked.Waiting> waiting = List.copyOf(ticket.claims);
            ticket.claims.clear();
            waiting.forEach(each -> each.again().run());
        });
    }

    /**
     * In Slurm's order of nodes; empty while a host is missing.
     *
     * @param askedMib what a VM may have where the site's Slurm does not divide memory
     * @throws IllegalArgumentException if Slurm's answer makes no slots
     */
    private Optional<List<Slot>> slots(Tracked ticket, Lease lease, int askedMib) {
        List<Slot> slots = new ArrayList<>();
        for (NodeShare share : ticket.shares) {
            Optional<Identity> host = office.around.host(share.node());
            if (host.isEmpty()) {
                return Optional.empty();
            }
            int slot = slots.size();
            slots.add(new Slot(
                    slot,
                    share.node(),
                    host.get().name(),
                    host.get().key(),
                    Address.parse(lease.addresses().get(slot)),
                    share.cpus(),
                    share.memoryMib() == 0 ? askedMib : share.memoryMib()));
        }
        return Optional.of(slots);
    }

    private void miss(Tracked ticket) {
        long now = System.nanoTime();
        if (ticket.missingNs == 0) {
            ticket.missingNs = now;
            LOG.warn(
                    "waiting for hosts ticket={} nodes={}",
                    ticket.id,
                    ticket.shares.stream().map(NodeShare::node).toList());
        } else if (now - ticket.missingNs > office.terms.times().hosts().toNanos()) {
            following.stop(ticket, TicketEnd.NOT_STARTED);
        }
    }
}
