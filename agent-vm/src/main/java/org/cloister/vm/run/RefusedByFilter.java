package org.cloister.vm.run;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.cloister.vm.VmMetrics;
import org.cloister.vm.rpcfilter.FilterState;
import org.cloister.vm.rpcfilter.Refusals;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Adds what the filter before slurmctld has refused since the last look to the metrics. Of one thread. */
final class RefusedByFilter {
    private static final Logger LOG = LoggerFactory.getLogger(RefusedByFilter.class);

    private final FilterState state;
    private final VmMetrics metrics;
    private Map<String, Long> seen = Map.of();

    RefusedByFilter(FilterState state, VmMetrics metrics) {
        this.state = state;
        this.metrics = metrics;
    }

    void count() {
        Optional<Map<String, Long>> read;
        try {
            read = state.refused();
        } catch (IOException e) {
            LOG.warn("refusals of the filter before slurmctld: not read, and read again: {}", e.toString());
            return;
        }
        read.ifPresent(now -> {
            Map<String, Long> known = new TreeMap<>(now);
            known.keySet().retainAll(Refusals.NAMES);
            known.forEach((name, count) -> {
                long before = seen.getOrDefault(name, 0L);
                // A filter that was started again counts from 0.
                long more = count >= before ? count - before : count;
                if (more > 0) {
                    metrics.refusedByFilter(name, more);
                }
            });
            seen = known;
        });
    }
}
