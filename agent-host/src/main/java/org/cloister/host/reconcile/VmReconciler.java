package org.cloister.host.reconcile;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.cloister.host.vm.ResourceOwner;

/**
 * Computes the next actions for this host's VMs from the ledger and the observed state, without I/O and without a
 * clock. Unknown is not absent: a VM ends if a resource is known to be gone, and its entry is deleted when all are. No
 * action concerns resources that are not ours.
 */
final class VmReconciler {
    private static final List<ResourceKind> DOWN = down();
    /** Resources that a running VM must have; a port is created again. */
    private static final Set<ResourceKind> VITAL = EnumSet.complementOf(EnumSet.of(ResourceKind.PORT));

    /**
     * View of the ledger around the time of the queries.
     *
     * @param entries read before the queries: a resource that is missing was not created since
     * @param building UUIDs of VMs that this process was building before the queries; only the builder changes them
     * @param after entries read after the queries: a new VM's resources are not orphans
     * @param died UUIDs of domains whose death the hypervisor reported
     */
    record LedgerView(List<VmLedgerEntry> entries, Set<String> building, List<VmLedgerEntry> after, Set<String> died) {}

    private final LedgerView view;
    private final ObservedState observed;
    private final ResourceMatcher matching;
    private final VmTimeouts times;
    private final long nowMs;
    private final List<ReconcileAction> actions = new ArrayList<>();

    private VmReconciler(LedgerView view, ObservedState observed, VmTimeouts times, long nowMs) {
        this.view = view;
        this.observed = observed;
        this.matching = new ResourceMatcher(view.entries, observed);
        this.times = times;
        this.nowMs = nowMs;
    }

    /**
     * Returns the actions to perform. Call it only when every source has answered once since the start.
     *
     * @param nowMs in ms since the epoch
     */
    static List<ReconcileAction> plan(LedgerView view, ObservedState observed, VmTimeouts times, long nowMs) {
        VmReconciler reconciler = new VmReconciler(view, observed, times, nowMs);
        for (VmLedgerEntry entry : view.entries) {
            if (entry.isEnding()) {
                entry.end().ifPresent(end -> reconciler.removeResources(entry, end));
            } else if (!view.building.contains(entry.owner().uuid())) {
                reconciler.follow(entry);
            }
        }
        reconciler.adopt();
        return List.copyOf(reconciler.actions);
    }

    private void follow(VmLedgerEntry entry) {
        if (!entry.hasBegun(VmStartStep.RUNNING)) {
            finish(entry, VmTermination.Why.INTERRUPTED, entry.step().name());
            return;
        }
        for (ResourceKind part : DOWN) {
            if (VITAL.contains(part) && entry.has(part) && isRemoved(entry, part)) {
                finish(entry, part == ResourceKind.DOMAIN ? withoutDomain(entry) : VmTermination.Why.LOST, part.name());
                return;
            }
        }
        Optional<HostResource> domain = matching.find(entry, ResourceKind.DOMAIN);
        if (domain.isPresent()
                && observed.inStep().isKnown()
                && !observed.inStep().all().contains(entry.owner().uuid())) {
            finish(entry, VmTermination.Why.STEP_GONE, "");
        } else if (domain.isPresent() && !domain.get().running() && entry.step() == VmStartStep.REGISTERED) {
            finish(entry, VmTermination.Why.STOPPED, "");
        } else if (entry.step() == VmStartStep.RUNNING && times.isOverdue(entry, nowMs)) {
            finish(entry, VmTermination.Why.NOT_REGISTERED, "");
        } else {
            restore(entry, domain);
        }
    }

    /**
     * Repairs a running VM: its port may be gone with the whole database, and its guest may not have been resumed when
     * the daemon was killed.
     */
    private void restore(VmLedgerEntry entry, Optional<HostResource> domain) {
        if (isRemoved(entry, ResourceKind.PORT)) {
            actions.add(new ReconcileAction.RestorePort(entry.owner()));
        }
        if (domain.isPresent() && !domain.get().running()) {
            actions.add(new ReconcileAction.Resume(entry.owner()));
        }
    }

    private VmTermination.Why withoutDomain(VmLedgerEntry entry) {
        return view.died.contains(entry.owner().uuid()) ? VmTermination.Why.DIED : VmTermination.Why.DOMAIN_GONE;
    }

    private boolean isRemoved(VmLedgerEntry entry, ResourceKind part) {
        return observed.knows(part) && matching.find(entry, part).isEmpty();
    }

    private void finish(VmLedgerEntry entry, VmTermination.Why why, String at) {
        actions.add(new ReconcileAction.RecordEnd(entry.owner(), new VmTermination(why, at, nowMs)));
    }

    /**
     * Removes resources, from the domain down. If a kind is unknown, those below it wait: a domain may still have its
     * disk open.
     */
    private void removeResources(VmLedgerEntry entry, VmTermination end) {
        if (view.building.contains(entry.owner().uuid())) {
            return; // The builder notices the end at its next step.
        }
        boolean nothing = true;
        for (ResourceKind part : DOWN) {
            if (!observed.knows(part)) {
                return;
            }
            Optional<HostResource> resource = matching.find(entry, part);
            if (resource.isEmpty()) {
                continue;
            }
            nothing = false;
            boolean requested =
                    part == ResourceKind.DOMAIN && resource.get().running() && end.why() == VmTermination.Why.ASKED;
            if (requested && times.isPowerOffPending(end, nowMs)) {
                actions.add(new ReconcileAction.RequestPowerOff(entry.owner()));
                return;
            }
            actions.add(
                    requested
                            ? new ReconcileAction.DestroyDomain(entry.owner())
                            : new ReconcileAction.RemoveResource(entry.owner(), part));
        }
        if (nothing) {
            actions.add(new ReconcileAction.ForgetVm(entry.owner(), end));
        }
    }

    /** Adopts VMs whose entry was lost: a complete VM continues to run, and of any other the rest is removed. */
    private void adopt() {
        if (!observed.knowsAll()) {
            return;
        }
        for (Map.Entry<ResourceOwner, Set<ResourceKind>> each :
                matching.unrecordedVms(view.after).entrySet()) {
            boolean scratch = each.getValue().contains(ResourceKind.SCRATCH);
            VmLedgerEntry entry = VmLedgerEntry.claim(each.getKey(), scratch, nowMs);
            actions.add(new ReconcileAction.Adopt(
                    isWhole(each.getKey(), each.getValue())
                            ? entry.at(VmStartStep.RUNNING)
                            : entry.ending(new VmTermination(VmTermination.Why.ORPHAN, "", nowMs))));
        }
    }

    private boolean isWhole(ResourceOwner owner, Set<ResourceKind> parts) {
        HostResource domain =
                new HostResource(ResourceKind.DOMAIN, ResourceKind.DOMAIN.nameOf(owner), Optional.of(owner), true);
        return observed.all(ResourceKind.DOMAIN).contains(domain)
                && parts.containsAll(EnumSet.complementOf(EnumSet.of(ResourceKind.SCRATCH)))
                && observed.inStep().all().contains(owner.uuid());
    }

    private static List<ResourceKind> down() {
        List<ResourceKind> parts = new ArrayList<>(List.of(ResourceKind.values()));
        Collections.reverse(parts);
        return List.copyOf(parts);
    }
}
