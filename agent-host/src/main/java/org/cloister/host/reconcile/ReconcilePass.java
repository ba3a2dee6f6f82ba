package org.cloister.host.reconcile;

import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.cloister.host.vm.ResourceOwner;

/**
 * Compares the VM ledger with the observed state and performs the actions that follow. Not thread-safe, except for
 * {@link #onDomainDied}.
 */
public final class ReconcilePass {
    /**
     * Maximum of repetitions: four for a VM that is adopted, ended, removed and observed to be gone, and four for what
     * happens meanwhile.
     */
    private static final int MAX_PASSES = 8;

    private final VmLedger ledger;
    private final VmBuilder building;
    private final HostBackend machine;
    private final VmTimeouts times;
    private final InstantSource clock;
    private final Set<ResourceKind> answered = EnumSet.noneOf(ResourceKind.class);
    /** UUIDs of domains that died and are in the ledger. */
    private final Set<String> endedDomains = ConcurrentHashMap.newKeySet();

    private boolean stepsAnswered;

    public ReconcilePass(
            VmLedger ledger, VmBuilder building, HostBackend machine, VmTimeouts times, InstantSource clock) {
        this.ledger = ledger;
        this.building = building;
        this.machine = machine;
        this.times = times;
        this.clock = clock;
    }

    /**
     * Outcome of a reconcile pass.
     *
     * @param done actions in order
     * @param silentSources sources that did not answer the last observation
     * @param neverAnswered sources that have not answered since the start; until they do, nothing is done
     * @param problems failed queries and actions, for people
     * @param orphans resources that were not changed, and that do not prevent a clean pass
     * @param atMs end of the pass, in ms since the epoch
     * @param nextMs next deadline, in ms since the epoch; at once if the pass did not finish
     */
    public record Outcome(
            List<ReconcileAction> done,
            Set<ResourceKind> silentSources,
            List<String> neverAnswered,
            List<String> problems,
            List<OrphanResource> orphans,
            long atMs,
            OptionalLong nextMs) {
        /** Returns the outcome of a pass that failed as a whole. */
        public static Outcome failed(String problem, long nowMs) {
            return new Outcome(
                    List.of(), Set.of(), List.of(), List.of(problem), List.of(), nowMs, OptionalLong.empty());
        }

        public Outcome withProblem(String problem) {
            List<String> all = new ArrayList<>(problems);
            all.add(problem);
            return new Outcome(done, silentSources, neverAnswered, List.copyOf(all), orphans, atMs, nextMs);
        }

        /** Returns whether this host can clean up after its VMs. */
        public boolean isClean() {
            return neverAnswered.isEmpty() && problems.isEmpty();
        }
    }

    /** Observes and acts until nothing is left to do, or nothing can be done. */
    public Outcome run() {
        List<ReconcileAction> done = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        List<OrphanResource> orphans = List.of();
        Set<ResourceKind> silent = EnumSet.allOf(ResourceKind.class);
        boolean again = true;
        for (int pass = 0; again && pass < MAX_PASSES; pass++) {
            Set<String> busy = building.inProgress();
            List<VmLedgerEntry> entries = ledger.entries();
            ObservedState observed = machine.observe();
            recordAnswers(observed);
            silent = observed.silentSources();
            problems.clear();
            problems.addAll(observed.unknownReasons());
            if (!unheard().isEmpty()) {
                break;
            }
            VmReconciler.LedgerView view =
                    new VmReconciler.LedgerView(entries, busy, ledger.entries(), Set.copyOf(endedDomains));
            again = perform(VmReconciler.plan(view, observed, times, clock.millis()), done, problems);
            orphans = new ResourceMatcher(entries, observed).orphanResources(view.after());
        }
        Set<String> ours =
                ledger.entries().stream().map(entry -> entry.owner().uuid()).collect(Collectors.toSet());
        endedDomains.removeIf(uuid -> !ours.contains(uuid));
        boolean unsettled = again && unheard().isEmpty();
        OptionalLong next = unsettled ? OptionalLong.of(clock.millis()) : times.nextDeadline(ledger.entries());
        return new Outcome(List.copyOf(done), silent, unheard(), List.copyOf(problems), orphans, clock.millis(), next);
    }

    /** Records that the hypervisor reported the death of a domain, ours or not. Any thread may call. */
    public void onDomainDied(String uuid) {
        endedDomains.add(uuid);
    }

    private void recordAnswers(ObservedState observed) {
        for (ResourceKind part : ResourceKind.values()) {
            if (observed.knows(part)) {
                answered.add(part);
            }
        }
        stepsAnswered |= observed.inStep().isKnown();
    }

    private List<String> unheard() {
        List<String> unheard = new ArrayList<>();
        EnumSet.allOf(ResourceKind.class).stream()
                .filter(part -> !answered.contains(part))
                .forEach(part -> unheard.add(part.name()));
        if (!stepsAnswered) {
            unheard.add("STEPS");
        }
        return unheard;
    }

    /**
     * Performs the actions.
     *
     * @return whether another observation may lead to further actions
     */
    private boolean perform(List<ReconcileAction> actions, List<ReconcileAction> done, List<String> problems) {
        Set<ResourceOwner> stuck = new HashSet<>();
        boolean changed = false;
        for (ReconcileAction action : actions) {
            if (stuck.contains(action.owner())) {
                continue;
            }
            try {
                perform(action);
                done.add(action);
                changed |= !(action instanceof ReconcileAction.RequestPowerOff);
            } catch (IOException e) {
                stuck.add(action.owner());
                problems.add(action + ": " + e.getMessage());
            }
        }
        return changed;
    }

    private void perform(ReconcileAction action) throws IOException {
        ResourceOwner owner = action.owner();
        if (action instanceof ReconcileAction.RecordEnd finish) {
            ledger.recordEnd(owner.uuid(), finish.end());
        } else if (action instanceof ReconcileAction.Adopt adopt) {
            ledger.adopt(adopt.entry());
        } else if (action instanceof ReconcileAction.Resume) {
            machine.resume(owner);
        } else if (action instanceof ReconcileAction.RestorePort) {
            machine.restorePort(owner);
        } else if (action instanceof ReconcileAction.RequestPowerOff) {
            machine.requestPowerOff(owner);
        } else if (action instanceof ReconcileAction.DestroyDomain) {
            machine.remove(owner, ResourceKind.DOMAIN);
        } else if (action instanceof ReconcileAction.RemoveResource remove) {
            machine.remove(owner, remove.kind());
        } else if (action instanceof ReconcileAction.ForgetVm) {
            ledger.forget(owner.uuid(), clock.millis());
        } else {
            throw new IllegalStateException("action: want one of those above, have " + action);
        }
    }
}
