package org.cloister.relay.ticket;

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
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.Fact;
import org.cloister.protocol.audit.log.AuditLog;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.relay.state.StateException;
import org.cloister.relay.state.TicketRow;
import org.cloister.relay.state.Transaction;

/** What the parts of the office share: the records, who listens, and how an end is written. */
final class Office {
    final OfficeTerms terms;
    final Surroundings around;
    final Commits commits;
    final AuditLog log;
    final InstantSource clock;
    final OfficeMetrics metrics;
    final Listeners listeners = new Listeners();
    final RefusalCounts refusals = new RefusalCounts();
    final AuditBudget budget;
    final Whereabouts whereabouts = new Whereabouts();
    /** Of open tickets, by id. What is in them is the records' thread's. */
    final Map<String, Tracked> tracked = new ConcurrentHashMap<>();

    Office(
            OfficeTerms terms,
            Surroundings around,
            Commits commits,
            AuditLog log,
            InstantSource clock,
            OfficeMetrics metrics) {
        this.terms = terms;
        this.around = around;
        this.commits = commits;
        this.log = log;
        this.clock = clock;
        this.metrics = metrics;
        this.budget = new AuditBudget(terms.room().projectBytes());
    }

    Instant now() {
        return clock.instant();
    }

    ByteString head() {
        return ByteString.copyFrom(log.head().envelope().bytes());
    }

    /** The relay's own certificates, the leaf first. */
    List<ByteString> chain() {
        List<ByteString> chain = new ArrayList<>();
        try {
            for (X509Certificate each : terms.own().get().chain()) {
                chain.add(ByteString.copyFrom(each.getEncoded()));
            }
        } catch (CertificateEncodingException e) {
            throw new IllegalStateException("a certificate of the relay has no DER", e);
        }
        return chain;
    }

    /** Writes what was counted, in the outbox at least: it comes into the log when that can be written. */
    void recordRefusals(Commits.Records records, List<RefusalCounts.Counted> counted) throws StateException {
        Instant now = now();
        for (RefusalCounts.Counted each : counted) {
            records.event(each.event(now));
            records.afterwards(() -> refusals.written(each, now));
        }
    }

    /** An event about a ticket. */
    AuditEvent event(String kind, TicketRow row) {
        return AuditEvent.of(now(), kind)
                .with(Fact.PROJECT, row.request().project())
                .with(Fact.TICKET, row.id());
    }

    OfficeMessage.Update update(Transaction records, TicketRow row) throws StateException {
        Optional<byte[]> allocation = row.allocated() ? records.tickets().allocation(row.id()) : Optional.empty();
        String text = row.text();
        return new OfficeMessage.Update(
                row.id(),
                row.state(),
                Optional.ofNullable(row.end()),
                text == null ? "" : text,
                row.job().orElse(0),
                allocation.map(ByteString::copyFrom).orElse(ByteString.EMPTY),
                head());
    }

    /** Tells who signed a ticket how it stands, once that is recorded. */
    void tell(Commits.Records records, String ticket) throws StateException {
        TicketRow row = records.transaction().tickets().byId(ticket).orElseThrow();
        OfficeMessage.Update update = update(records.transaction(), row);
        records.onceAudited(() -> listeners.tell(row.request().signer(), ticket, update));
    }

    /** Ends a ticket, whatever it was doing: its numbers rest, and whoever waits for it hears why. */
    void end(Commits.Records records, TicketRow row, TicketEnd end, String text) throws StateException {
        String said = text.isEmpty() ? end.toString() : text;
        if (!records.transaction().tickets().ended(row.id(), end, said, now())) {
            return;
        }
        records.transaction().numbers().release(row.id());
        AuditEvent event = event("ticket.ended", row).with(Fact.END, end.toString());
        records.event(
                row.job().isPresent() ? event.with(Fact.GLOBAL_JOB, row.job().getAsLong()) : event);
        tell(records, row.id());
        records.afterwards(() -> {
            metrics.ended(end);
            whereabouts.ended(row.request());
            Tracked gone = tracked.remove(row.id());
            if (gone != null) {
                List<Tracked.Waiting> waiting = new ArrayList<>(gone.claims);
                waiting.forEach(each -> each.party().answer(Refusals.ended(row.id(), end)));
            }
        });
    }
}
