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

/** What the bridge counts. */
final class BridgeMetrics {
    /** From asking for a change until the switch has it. */
    final Timer apply;
    /** Changes that failed and were taken back. */
    final Counter refused;
    /** Something was not as it should be, though nobody had asked for a change. */
    final Counter driftFound;
    /** And is again. */
    final Counter driftRepaired;
    /** The rules that keep the host's stack away were not as they were laid, and are again. */
    final Counter shieldRepaired;
    /** Connections to ovsdb-server made after the first. */
    final Counter databaseReconnects;
    /** Connections to ovs-vswitchd made after the first; its flows are laid again each time. */
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

    /** Flows count from when they were made: a smaller number than before is a flow that was made again. */
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
