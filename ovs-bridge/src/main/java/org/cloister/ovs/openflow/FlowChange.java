package org.cloister.ovs.openflow;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Difference between the flows and meters that a switch has and those that it should have. */
public record FlowChange(
        String operation,
        List<FlowEntry> added,
        List<FlowEntry.Key> gone,
        List<FlowMeter> meters,
        List<Integer> goneMeters) {

    /** Computes the change. Flows of the same key are replaced, which needs no removal. */
    public static FlowChange between(
            Collection<FlowEntry> had,
            Collection<FlowEntry> desired,
            Collection<FlowMeter> hadMeters,
            Collection<FlowMeter> desiredMeters) {
        Map<FlowEntry.Key, FlowEntry> before = new HashMap<>();
        had.forEach(flow -> before.put(flow.key(), flow));
        Set<FlowEntry.Key> after = new HashSet<>();
        desired.forEach(flow -> after.add(flow.key()));
        List<FlowEntry> added = desired.stream()
                .filter(flow -> !flow.equals(before.get(flow.key())))
                .toList();
        List<FlowEntry.Key> gone =
                before.keySet().stream().filter(key -> !after.contains(key)).toList();
        Set<FlowMeter> meters = new HashSet<>(desiredMeters);
        Set<Integer> keptMeters = new HashSet<>();
        desiredMeters.forEach(meter -> keptMeters.add(meter.id()));
        return new FlowChange(
                "change flows",
                added,
                gone,
                meters.stream().filter(meter -> !hadMeters.contains(meter)).toList(),
                hadMeters.stream()
                        .map(FlowMeter::id)
                        .filter(id -> !keptMeters.contains(id))
                        .toList());
    }

    public boolean isEmpty() {
        return added.isEmpty() && gone.isEmpty() && meters.isEmpty() && goneMeters.isEmpty();
    }
}
