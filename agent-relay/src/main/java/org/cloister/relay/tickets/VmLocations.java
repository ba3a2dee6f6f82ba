package org.cloister.relay.tickets;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.ticket.Opening;
import org.cloister.relay.state.RelayDatabaseException;
import org.cloister.relay.state.RelayTransaction;
import org.cloister.relay.state.SlotRecords;
import org.cloister.relay.state.TicketRequest;
import org.cloister.relay.state.TicketRow;

/**
 * Tracks the host of each VM, as recorded for running openings and tickets: a controlling VM's by its drive, a worker's
 * by its slot. It has one entry for each slot of an open ticket that a host has claimed. Thread-safe.
 */
final class VmLocations {
    private record ClaimedSlot(String ticket, CertificateName host) {}

    private final Map<CertificateName, ClaimedSlot> claims = new ConcurrentHashMap<>();

    /** Returns the VM's host; empty while no host has claimed a running VM of that name. */
    Optional<CertificateName> findHost(CertificateName vm) {
        return Optional.ofNullable(claims.get(vm)).map(ClaimedSlot::host);
    }

    void onSlotClaimed(TicketRequest request, int slot, CertificateName host) {
        claims.put(name(request, slot), new ClaimedSlot(request.id(), host));
    }

    void onTicketEnd(TicketRequest request) {
        claims.values().removeIf(claim -> claim.ticket.equals(request.id()));
    }

    /** Restores the claims that an earlier process of the relay recorded. */
    void resume(RelayTransaction records, TicketRow row) throws RelayDatabaseException {
        for (SlotRecords.Claim claim : records.slots().claims(row.id())) {
            try {
                onSlotClaimed(row.request(), claim.slot(), CertificateName.parse(claim.host()));
            } catch (MalformedException e) {
                throw new IllegalStateException("claim of " + row.id() + ": " + e.getMessage(), e);
            }
        }
    }

    private static CertificateName name(TicketRequest request, int slot) {
        return request.drive()
                .map(drive -> Opening.controller(drive, request.project()))
                .orElseGet(() -> WorkerName.of(request.id(), slot, request.project()));
    }
}
