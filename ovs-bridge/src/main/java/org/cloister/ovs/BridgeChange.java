package org.cloister.ovs;

import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.cloister.ovs.io.OvsException;
import org.cloister.ovs.io.OvsException.PlanRefused;
import org.jspecify.annotations.Nullable;

/** Something that was asked of the bridge and is not yet done. Owned by the event loop. */
final class BridgeChange {
    final Edit edit;
    final long askedAtNs;
    final CompletableFuture<AppliedPorts> done = new CompletableFuture<>();
    /** What was wanted before, and is again when this fails. */
    private @Nullable PortPlanSet before;

    private Set<String> mustOpen = Set.of();
    /** Why it failed; what it had done is being undone. */
    @Nullable
    OvsException failure;

    /** From the plans that are to those that should be. */
    @FunctionalInterface
    interface Edit {
        PortPlanSet apply(@Nullable PortPlanSet plans) throws PlanRefused;
    }

    BridgeChange(Edit edit, long nowNs) {
        this.edit = edit;
        this.askedAtNs = nowNs;
    }

    /** The first plans after a start may name devices that died meanwhile; later ones must open. */
    PortPlanSet applyTo(@Nullable PortPlanSet plans) throws PlanRefused {
        PortPlanSet after = edit.apply(plans);
        before = plans;
        if (plans != null) {
            mustOpen = new TreeSet<>();
            for (PortPlan plan : after.plans()) {
                PortPlan had = plans.get(plan.device());
                if (had == null || !had.isSameStation(plan)) {
                    mustOpen.add(plan.device());
                }
            }
        }
        return after;
    }

    /** Devices that must open for this to succeed. */
    Set<String> mustOpen() {
        return failure == null ? mustOpen : Set.of();
    }

    /** @return what is wanted again */
    @Nullable
    PortPlanSet fail(OvsException why) {
        if (failure == null) {
            failure = why;
        }
        return before;
    }
}
