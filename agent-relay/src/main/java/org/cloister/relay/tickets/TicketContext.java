package org.cloister.relay.tickets;

import com.google.protobuf.ByteString;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.cloister.audit.AuditLogWriter;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.AuditField;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.relay.state.DeliveredDocuments;
import org.cloister.relay.state.RelayDatabaseException;
import org.cloister.relay.state.RelayTransaction;
import org.cloister.relay.state.TicketRow;

/**
 * State and services that the classes of this package share, such as the records, the listeners and the recording of
 * ends.
 */
final class TicketContext {
    final TicketLifecycleSettings settings;
    final DeliveredDocuments documents;
    final AttachedAgents agents;
    final GroupCommitter commits;
    final AuditLogWriter log;
    final InstantSource clock;
    final TicketMetrics metrics;
    final TicketListeners listeners = new TicketListeners();
    final RefusalCounts refusals = new RefusalCounts();
    final AuditBudget budget;
    final VmLocations vmLocations = new VmLocations();
    /** Runtime state of open tickets, by id. Only the records thread uses the values. */
    final Map<String, TicketRuntimeState> openTickets = new ConcurrentHashMap<>();

    TicketContext(
            TicketLifecycleSettings settings,
            DeliveredDocuments documents,
            AttachedAgents agents,
            GroupCommitter commits,
            AuditLogWriter log,
            InstantSource clock,
            TicketMetrics metrics) {
        this.settings = settings;
        this.documents = documents;
        this.agents = agents;
        this.commits = commits;
        this.log = log;
        this.clock = clock;
        this.metrics = metrics;
        this.budget = new AuditBudget(settings.auditSpace().projectBytes());
    }

    Instant now() {
        return clock.instant();
    }

    ByteString head() {
        return ByteString.copyFrom(log.head().envelope().bytes());
    }

    /** Returns the relay's own certificates, the leaf first. */
    List<ByteString> chain() {
        List<ByteString> chain = new ArrayList<>();
        try {
            for (X509Certificate each : settings.credential().get().chain()) {
                chain.add(ByteString.copyFrom(each.getEncoded()));
            }
        } catch (CertificateEncodingException e) {
            throw new IllegalStateException("a certificate of the relay cannot be encoded", e);
        }
        return chain;
    }

    /** Writes the counted refusals to the outbox; they reach the log when it can be written. */
    void recordRefusals(GroupCommitter.Context records, List<RefusalCounts.Counted> counted)
            throws RelayDatabaseException {
        Instant now = now();
        for (RefusalCounts.Counted each : counted) {
            records.event(each.event(now));
            records.onCommitted(() -> refusals.markWritten(each, now));
        }
    }

    /** Returns an event about a ticket. */
    AuditEvent event(String kind, TicketRow row) {
        return AuditEvent.of(now(), kind)
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
        if (!records.transaction().tickets().recordEnd(row.id(), end, reason, now())) {
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
