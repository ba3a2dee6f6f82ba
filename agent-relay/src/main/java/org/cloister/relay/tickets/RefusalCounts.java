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

/**
 * Counts refusals of signed tickets and openings, so that the audit log has one record for each project, kind and clause a
 * minute however many there are. No clock: time is an argument. On the records' thread.
 */
final class RefusalCounts {
    /** What one record counts. A relay that is killed loses the counts of one such span at most. */
    static final Duration SPAN = Duration.ofMinutes(1);

    /** Of projects whose documents the relay has: only their signatures hold. */
    private final Map<Key, Counted> counts = new LinkedHashMap<>();

    /**
     * What is counted together.
     *
     * @param kind of the audit record
     */
    record Key(String kind, String project, TicketClause clause) {}

    /**
     * Refusals that no record has yet.
     *
     * @param since when the first of them was refused
     * @param signer the key's id, if one key signed all of them
     * @param ticket the id, if it is one
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

    /** @param signer id of the key that signed it */
    void add(Key key, String signer, String ticket, Instant now) {
        counts.merge(
                key,
                new Counted(key, 1, now, Optional.of(signer), Optional.of(ticket)),
                (before, one) -> new Counted(
                        key, before.count + 1, before.since, before.signer.filter(signer::equals), Optional.empty()));
    }

    /** Those whose span is over; after a clock was set back, at once. */
    List<Counted> due(Instant now) {
        return counts.values().stream()
                .filter(each -> now.isBefore(each.since) || !now.isBefore(each.since.plus(SPAN)))
                .toList();
    }

    List<Counted> all() {
        return List.copyOf(counts.values());
    }

    /** A record has them now; what came since is counted from here on. */
    void markWritten(Counted recorded, Instant now) {
        counts.computeIfPresent(
                recorded.key,
                (key, have) -> have.count <= recorded.count
                        ? null
                        : new Counted(key, have.count - recorded.count, now, have.signer, Optional.empty()));
    }
}
