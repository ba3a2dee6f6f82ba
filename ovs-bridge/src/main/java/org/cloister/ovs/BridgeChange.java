package org.cloister.ovs;

import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.cloister.ovs.io.OvsException;
import org.cloister.ovs.io.OvsException.PlanRefused;
import org.jspecify.annotations.Nullable;

/** A requested change of the bridge that is not yet done. Owned by the event loop. */
final class BridgeChange {
    final Edit edit;
    final long requestedAtNs;
    final CompletableFuture<AppliedPorts> done = new CompletableFuture<>();
    /** The plans before this change; they are restored when it fails. */
    private @Nullable PortPlanSet before;

    private Set<String> mustOpen = Set.of();
    /** Reason of the failure, set while the change is rolled back. */
    @Nullable
    OvsException failure;

    /** Computes the desired plans from the present ones. */
    @FunctionalInterface
    interface Edit {
        PortPlanSet apply(@Nullable PortPlanSet plans) throws PlanRefused;
    }

    BridgeChange(Edit edit, long nowNs) {
        this.edit = edit;
        this.requestedAtNs = nowNs;
    }

    /**
     * Applies the edit. The first plans after a start may name devices that disappeared meanwhile; devices of later
     * plans must open.
     */
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

    /** Returns the devices that must open for this change to succeed. */
    Set<String> mustOpen() {
        return failure == null ? mustOpen : Set.of();
    }

    /** @return the plans to restore */
    @Nullable
    PortPlanSet fail(OvsException why) {
        if (failure == null) {
            failure = why;
        }
        return before;
    }
}
