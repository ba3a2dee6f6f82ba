package org.cloister.host.channel;

import com.codahale.metrics.Counter;
import com.codahale.metrics.MetricRegistry;

/** Counters of channels and evidence; docs/metrics.md. */
public final class ChannelMetrics {
    final Counter sessions;
    final Counter openingsFailed;
    final Counter cuts;
    final Counter requestsRefused;
    final Counter statementsSigned;
    final Counter statementsRefused;
    final Counter statementsFailed;

    /** @param prefix prefix of the host's own metrics, with a trailing dot */
    public ChannelMetrics(MetricRegistry registry, String prefix) {
        sessions = registry.counter(prefix + "channel.sessions");
        openingsFailed = registry.counter(prefix + "channel.openings.failed");
        cuts = registry.counter(prefix + "channel.cuts");
        requestsRefused = registry.counter(prefix + "channel.requests.refused");
        statementsSigned = registry.counter(prefix + "statements.signed");
        statementsRefused = registry.counter(prefix + "statements.refused");
        statementsFailed = registry.counter(prefix + "statements.failed");
    }
}
