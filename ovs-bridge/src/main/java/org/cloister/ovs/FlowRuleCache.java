package org.cloister.ovs;

import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.cloister.ovs.Reachability.BoundPort;
import org.cloister.ovs.openflow.FlowEntry;
import org.jspecify.annotations.Nullable;

/** Cache of the last rules that were computed: most steps need the same rules again. */
final class FlowRuleCache {
    private List<BoundPort> bound = List.of();
    private @Nullable Integer uplink;
    private FlowPipeline.@Nullable Rules rules;

    FlowPipeline.Rules of(List<BoundPort> newBound, @Nullable Integer newUplink) {
        FlowPipeline.Rules last = rules;
        if (last != null && bound.equals(newBound) && Objects.equals(uplink, newUplink)) {
            return last;
        }
        FlowPipeline.Rules made = FlowPipeline.of(newBound, newUplink);
        bound = newBound;
        uplink = newUplink;
        rules = made;
        return made;
    }

    /** Returns the flows that exist for one port only; empty for a port that is not open. */
    Set<FlowEntry> owedTo(String device) {
        FlowPipeline.Rules last = rules;
        if (last == null) {
            return Set.of();
        }
        List<BoundPort> others = bound.stream()
                .filter(each -> !each.plan().device().equals(device))
                .toList();
        Set<FlowEntry> owed = new HashSet<>(last.flows());
        owed.removeAll(FlowPipeline.of(others, uplink).flows());
        return owed;
    }
}
