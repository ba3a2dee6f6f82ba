package org.cloister.ovs;

import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.cloister.ovs.Reach.Bound;
import org.cloister.ovs.openflow.Flow;
import org.jspecify.annotations.Nullable;

/** The last rules that were asked for: most steps ask for the same ones again. */
final class Ruling {
    private List<Bound> bound = List.of();
    private @Nullable Integer uplink;
    private Pipeline.@Nullable Rules rules;

    Pipeline.Rules of(List<Bound> newBound, @Nullable Integer newUplink) {
        Pipeline.Rules last = rules;
        if (last != null && bound.equals(newBound) && Objects.equals(uplink, newUplink)) {
            return last;
        }
        Pipeline.Rules made = Pipeline.of(newBound, newUplink);
        bound = newBound;
        uplink = newUplink;
        rules = made;
        return made;
    }

    /** Of those, the flows that would not be there without one port; none of a port that is not open. */
    Set<Flow> owedTo(String device) {
        Pipeline.Rules last = rules;
        if (last == null) {
            return Set.of();
        }
        List<Bound> others = bound.stream()
                .filter(each -> !each.plan().device().equals(device))
                .toList();
        Set<Flow> owed = new HashSet<>(last.flows());
        owed.removeAll(Pipeline.of(others, uplink).flows());
        return owed;
    }
}
