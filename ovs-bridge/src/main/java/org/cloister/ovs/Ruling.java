package org.cloister.ovs;

import java.util.List;
import java.util.Objects;
import org.cloister.ovs.Reach.Bound;
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
}
