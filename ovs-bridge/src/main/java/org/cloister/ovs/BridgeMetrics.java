package org.cloister.ovs;

import com.codahale.metrics.Counter;
import com.codahale.metrics.MetricRegistry;
import com.codahale.metrics.Timer;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.cloister.ovs.openflow.FlowEntry;
import org.cloister.ovs.openflow.FlowStats;

/** Metrics of one bridge. */
final class BridgeMetrics {
    /** Time from the request of a change until the switch has it. */
    final Timer apply;
    /** Number of changes that failed and were rolled back. */
    final Counter refused;
    /** Number of drifts: differences from the plan that appeared without a requested change. */
    final Counter driftFound;
    /** Number of drifts that were repaired. */
    final Counter driftRepaired;
    /** Number of repairs of the nftables rules that keep the host's stack away from the ports. */
    final Counter shieldRepaired;
    /** Number of connections to ovsdb-server after the first. */
    final Counter databaseReconnects;
    /** Number of connections to ovs-vswitchd after the first; its flows are installed again each time. */
    final Counter switchReconnects;

    private final Map<DropReason, Counter> dropped = new EnumMap<>(DropReason.class);
    private Map<FlowEntry.Key, Long> lastPackets = Map.of();

    BridgeMetrics(MetricRegistry registry) {
        apply = registry.timer("bridge.apply");
        refused = registry.counter("bridge.refused");
        driftFound = registry.counter("bridge.drift.found");
        driftRepaired = registry.counter("bridge.drift.repaired");
        shieldRepaired = registry.counter("bridge.shield.repaired");
        databaseReconnects = registry.counter("bridge.reconnects.ovsdb");
        switchReconnects = registry.counter("bridge.reconnects.openflow");
        for (DropReason reason : DropReason.values()) {
            if (reason != DropReason.PASSES) {
                dropped.put(reason, registry.counter("bridge.dropped." + reason.label()));
            }
        }
    }

    /**
     * Counts dropped packets. A flow counts from its creation: a smaller number than before means that it was created
     * again.
     */
    void count(List<FlowStats> flows) {
        Map<FlowEntry.Key, Long> packets = new HashMap<>();
        for (FlowStats each : flows) {
            Counter counter =
                    DropReason.of(each.flow().cookie()).map(dropped::get).orElse(null);
            if (counter != null) {
                long before = lastPackets.getOrDefault(each.flow().key(), 0L);
                counter.inc(each.packets() >= before ? each.packets() - before : each.packets());
                packets.put(each.flow().key(), each.packets());
            }
        }
        lastPackets = packets;
    }
}
