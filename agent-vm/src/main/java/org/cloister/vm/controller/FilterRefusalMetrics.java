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
    private Map<String, Long> counted = Map.of();

    FilterRefusalMetrics(FilterStateFile state, ControllerMetrics metrics) {
        this.state = state;
        this.metrics = metrics;
    }

    void update() {
        Optional<Map<String, Long>> refusals;
        try {
            refusals = state.readRefusals();
        } catch (IOException e) {
            LOG.warn("the RPC filter's counts of refusals cannot be read: {}; retrying", e.toString());
            return;
        }
        refusals.ifPresent(counts -> {
            Map<String, Long> known = new TreeMap<>(counts);
            known.keySet().retainAll(RpcRefusalCounter.NAMES);
            known.forEach((name, count) -> {
                long before = counted.getOrDefault(name, 0L);
                // A restarted filter counts from 0.
                long added = count >= before ? count - before : count;
                if (added > 0) {
                    metrics.rpcsRefused(name, added);
                }
            });
            counted = known;
        });
    }
}
