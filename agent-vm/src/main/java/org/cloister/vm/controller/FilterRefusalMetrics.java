package org.cloister.vm.controller;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.cloister.vm.rpcfilter.FilterStateFile;
import org.cloister.vm.rpcfilter.RpcRefusalCounter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Adds the new refusals of the filter in front of slurmctld to the metrics. Confined to one thread. */
final class FilterRefusalMetrics {
    private static final Logger LOG = LoggerFactory.getLogger(FilterRefusalMetrics.class);

    private final FilterStateFile state;
    private final ControllerMetrics metrics;
    private Map<String, Long> seen = Map.of();

    FilterRefusalMetrics(FilterStateFile state, ControllerMetrics metrics) {
        this.state = state;
        this.metrics = metrics;
    }

    void update() {
        Optional<Map<String, Long>> read;
        try {
            read = state.readRefusals();
        } catch (IOException e) {
            LOG.warn("refusals of the filter before slurmctld: not read, and read again: {}", e.toString());
            return;
        }
        read.ifPresent(now -> {
            Map<String, Long> known = new TreeMap<>(now);
            known.keySet().retainAll(RpcRefusalCounter.NAMES);
            known.forEach((name, count) -> {
                long before = seen.getOrDefault(name, 0L);
                // A restarted filter counts from 0.
                long more = count >= before ? count - before : count;
                if (more > 0) {
                    metrics.rpcsRefused(name, more);
                }
            });
            seen = known;
        });
    }
}
