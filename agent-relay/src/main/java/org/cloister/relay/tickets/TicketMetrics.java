package org.cloister.relay.tickets;

import com.codahale.metrics.Counter;
import com.codahale.metrics.MetricRegistry;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;

/** Metrics of tickets and openings; docs/metrics.md. */
public final class TicketMetrics {
    private static final Set<TicketEnd> EXPECTED =
            EnumSet.of(TicketEnd.COMPLETED, TicketEnd.WITHDRAWN, TicketEnd.CANCELLED, TicketEnd.SUPERSEDED);

    final Counter accepted;
    final Counter refused;
    final Counter opened;
    final Counter notOpened;
    final Counter submissions;
    final Counter slurmUnavailable;
    final Counter duplicateJobs;
    final Counter messages;
    final Counter messagesRefused;
    final Counter streamsRefused;
    final Counter slowPeersClosed;
    private final Map<TicketClause, Counter> clauses = new EnumMap<>(TicketClause.class);
    private final Counter ended;
    private final Counter broken;

    /** @param prefix prefix of the relay's own metrics, with a dot at its end */
    public TicketMetrics(MetricRegistry registry, String prefix) {
        accepted = registry.counter(prefix + "tickets.accepted");
        refused = registry.counter(prefix + "tickets.refused");
        opened = registry.counter(prefix + "openings.accepted");
        notOpened = registry.counter(prefix + "openings.refused");
        for (TicketClause clause : TicketClause.values()) {
            clauses.put(clause, registry.counter(prefix + "refused." + label(clause)));
        }
        ended = registry.counter(prefix + "tickets.ended");
        broken = registry.counter(prefix + "tickets.broken");
        submissions = registry.counter(prefix + "slurm.submissions");
        slurmUnavailable = registry.counter(prefix + "slurm.unavailable");
        duplicateJobs = registry.counter(prefix + "slurm.duplicate.jobs");
        messages = registry.counter(prefix + "ticket.messages");
        messagesRefused = registry.counter(prefix + "ticket.messages.refused");
        streamsRefused = registry.counter(prefix + "ticket.streams.refused");
        slowPeersClosed = registry.counter(prefix + "ticket.parties.let.go");
    }

    /**
     * Counts a refusal, in total and by clause.
     *
     * @param kind one of {@link #refused} and {@link #notOpened}
     */
    void countRefusal(Counter kind, TicketClause clause) {
        kind.inc();
        clauses.getOrDefault(clause, kind).inc();
    }

    private static String label(TicketClause clause) {
        return clause.name().toLowerCase(Locale.ROOT).replace('_', '.');
    }

    void countEnd(TicketEnd end) {
        ended.inc();
        if (!EXPECTED.contains(end)) {
            broken.inc();
        }
    }
}
