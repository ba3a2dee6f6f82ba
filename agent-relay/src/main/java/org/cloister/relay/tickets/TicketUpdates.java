package org.cloister.relay.tickets;

import com.google.protobuf.ByteString;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.audit.AuditLogWriter;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.AuditField;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.relay.state.RelayDatabaseException;
import org.cloister.relay.state.RelayTransaction;
import org.cloister.relay.state.TicketRow;

/** Sends the states of tickets to their signers, and records their ends. Runs on the records thread. */
final class TicketUpdates {
    private final InstantSource clock;
    private final AuditLogWriter log;
    private final TicketListeners listeners;
    private final VmLocations vmLocations;
    private final OpenTickets openTickets;
    private final TicketMetrics metrics;

    TicketUpdates(
            InstantSource clock,
            AuditLogWriter log,
            TicketListeners listeners,
            VmLocations vmLocations,
            OpenTickets openTickets,
            TicketMetrics metrics) {
        this.clock = clock;
        this.log = log;
        this.listeners = listeners;
        this.vmLocations = vmLocations;
        this.openTickets = openTickets;
        this.metrics = metrics;
    }

    /** Returns the newest signed head of the audit log. Thread-safe. */
    ByteString head() {
        return ByteString.copyFrom(log.head().envelope().bytes());
    }

    /** Returns an event about a ticket. */
    AuditEvent event(String kind, TicketRow row) {
        return AuditEvent.of(clock.instant(), kind)
                .with(AuditField.PROJECT, row.request().project())
                .with(AuditField.TICKET, row.id());
    }

    RelayTicketMessage.Update update(RelayTransaction records, TicketRow row) throws RelayDatabaseException {
        Optional<byte[]> allocation = row.allocated() ? records.tickets().allocation(row.id()) : Optional.empty();
        String text = row.endText();
        return new RelayTicketMessage.Update(
                row.id(),
                row.state(),
                Optional.ofNullable(row.end()),
                text == null ? "" : text,
                row.job().orElse(0),
                allocation.map(ByteString::copyFrom).orElse(ByteString.EMPTY),
                head());
    }

    /** Sends a ticket's state to its signer once that state is recorded. */
    void sendUpdate(GroupCommitter.Context records, String ticket) throws RelayDatabaseException {
        TicketRow row = records.transaction().tickets().byId(ticket).orElseThrow();
        RelayTicketMessage.Update update = update(records.transaction(), row);
        records.onAudited(() -> listeners.sendUpdate(row.request().signer(), ticket, update));
    }

    /** Ends a ticket in any state: releases its numbers, and notifies the peers that wait for it of the reason. */
    void recordEnd(GroupCommitter.Context records, TicketRow row, TicketEnd end, String text)
            throws RelayDatabaseException {
        String reason = text.isEmpty() ? end.toString() : text;
        if (!records.transaction().tickets().recordEnd(row.id(), end, reason, clock.instant())) {
            return;
        }
        records.transaction().numbers().release(row.id());
        AuditEvent event = event("ticket.ended", row).with(AuditField.END, end.toString());
        records.event(
                row.job().isPresent()
                        ? event.with(AuditField.GLOBAL_JOB, row.job().getAsLong())
                        : event);
        sendUpdate(records, row.id());
        records.onCommitted(() -> {
            metrics.countEnd(end);
            vmLocations.onTicketEnd(row.request());
            TicketRuntimeState ended = openTickets.remove(row.id());
            if (ended != null) {
                List<TicketRuntimeState.PendingClaim> waiting = new ArrayList<>(ended.claims);
                waiting.forEach(each -> each.peer().answer(RefusalMessages.ended(row.id(), end)));
            }
        });
    }
}
