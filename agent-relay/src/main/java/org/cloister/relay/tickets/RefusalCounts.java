package org.cloister.relay.tickets;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.AuditField;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.relay.state.RelayDatabaseException;

/**
 * Counts refusals of signed tickets and openings, so that the audit log has at most one record per minute for each
 * project, kind and clause. It has no clock: time is an argument. Runs on the records thread.
 */
final class RefusalCounts {
    /** Time that one record covers. A relay that is killed loses the counts of one such span at most. */
    static final Duration SPAN = Duration.ofMinutes(1);

    /** Counts of projects whose documents the relay has: only their signatures can be verified. */
    private final Map<Key, Counted> counts = new LinkedHashMap<>();

    /**
     * Refusals that are counted together.
     *
     * @param kind kind of the audit record
     */
    record Key(String kind, String project, TicketClause clause) {}

    /**
     * Refusals that are not in a record yet.
     *
     * @param since time of the first of them
     * @param signer the key's id, if one key signed all of them
     * @param ticket the ticket's id, if all of them concern one ticket
     */
    record Counted(Key key, long count, Instant since, Optional<String> signer, Optional<String> ticket) {
        AuditEvent event(Instant now) {
            AuditEvent event = AuditEvent.of(now, key.kind)
                    .with(AuditField.PROJECT, key.project)
                    .with(AuditField.CLAUSE, key.clause.toString())
                    .with(AuditField.COUNT, count)
                    .with(
                            AuditField.SINCE,
                            since.truncatedTo(ChronoUnit.SECONDS).toString());
            if (ticket.isPresent()) {
                event = event.with(AuditField.TICKET, ticket.get());
            }
            return signer.isPresent() ? event.by(signer.get()) : event;
        }
    }

    /**
     * Counts one refusal.
     *
     * @param signer id of the key that signed it
     */
    void add(Key key, String signer, String ticket, Instant now) {
        counts.merge(
                key,
                new Counted(key, 1, now, Optional.of(signer), Optional.of(ticket)),
                (before, one) -> new Counted(
                        key, before.count + 1, before.since, before.signer.filter(signer::equals), Optional.empty()));
    }

    /** Returns the counts whose span is over; if the clock was set back, at once. */
    List<Counted> due(Instant now) {
        return counts.values().stream()
                .filter(each -> now.isBefore(each.since) || !now.isBefore(each.since.plus(SPAN)))
                .toList();
    }

    List<Counted> all() {
        return List.copyOf(counts.values());
    }

    /** Removes the counts that were recorded; refusals since then are counted from now on. */
    void markWritten(Counted recorded, Instant now) {
        counts.computeIfPresent(
                recorded.key,
                (key, have) -> have.count <= recorded.count
                        ? null
                        : new Counted(key, have.count - recorded.count, now, have.signer, Optional.empty()));
    }

    /** Writes the counted refusals to the outbox; they reach the log when it can be written. */
    void record(GroupCommitter.Context records, List<Counted> counted, Instant now) throws RelayDatabaseException {
        for (Counted each : counted) {
            records.event(each.event(now));
            records.onCommitted(() -> markWritten(each, now));
        }
    }
}
