package org.cloister.host.reconcile;

import java.io.IOException;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.cloister.host.vm.ResourceOwner;

/**
 * A host in memory: things by name, steps of jobs, and processes in them. It outlives the daemon, which dies at the point
 * that {@link #killAt} names, before, amid or after an effect. It fails the test at once if something is taken away that is
 * another's, in the wrong order, or with a source unheard.
 */
final class FakeHostBackend implements HostBackend {
    private final Map<ResourceKind, Map<String, HostResource>> resources = new EnumMap<>(ResourceKind.class);
    /** UUIDs of domains that were moved into their job's step. */
    private final Set<String> moved = new TreeSet<>();
    /** UUIDs of domains whose guest has begun. */
    private final Set<String> started = new TreeSet<>();

    private final Set<Long> endedJobs = new HashSet<>();
    private final Set<ResourceKind> silent = EnumSet.noneOf(ResourceKind.class);
    private final Set<ResourceKind> answered = EnumSet.noneOf(ResourceKind.class);
    private final Set<String> requested = new HashSet<>();
    private boolean silentSteps;
    private boolean stepsAnswered;
    private int points;
    private int killAt = Integer.MAX_VALUE;
    private Set<ResourceKind> failing = EnumSet.noneOf(ResourceKind.class);

    FakeHostBackend() {
        for (ResourceKind part : ResourceKind.values()) {
            resources.put(part, new TreeMap<>());
        }
    }

    /** @param point from 1, counted from now */
    void killAt(int point) {
        points = 0;
        killAt = point;
    }

    int points() {
        return points;
    }

    /** The daemon starts anew and has heard nothing. */
    void restarted() {
        killAt = Integer.MAX_VALUE;
        answered.clear();
        stepsAnswered = false;
    }

    private void point(String where, boolean beforeStep) {
        points++;
        if (points == killAt) {
            throw new SimulatedKill(where, beforeStep);
        }
    }

    void switchOff(Set<ResourceKind> parts, boolean steps) {
        silent.clear();
        silent.addAll(parts);
        silentSteps = steps;
    }

    void fail(Set<ResourceKind> parts) {
        failing = parts;
    }

    @Override
    public ObservedState observe() {
        Map<ResourceKind, SourceAnswer<HostResource>> answers = new EnumMap<>(ResourceKind.class);
        for (ResourceKind part : ResourceKind.values()) {
            if (silent.contains(part)) {
                answers.put(part, new SourceAnswer.Unknown<>("silent"));
            } else {
                answered.add(part);
                answers.put(part, new SourceAnswer.Known<>(new HashSet<>(of(part).values())));
            }
        }
        stepsAnswered |= !silentSteps;
        return new ObservedState(
                answers, silentSteps ? new SourceAnswer.Unknown<>("silent") : new SourceAnswer.Known<>(inStep()));
    }

    private Set<String> inStep() {
        return of(ResourceKind.DOMAIN).values().stream()
                .flatMap(resource -> resource.owner().stream())
                .filter(owner -> moved.contains(owner.uuid()) && !endedJobs.contains(owner.globalJob()))
                .map(ResourceOwner::uuid)
                .collect(Collectors.toSet());
    }

    @Override
    public void resume(ResourceOwner owner) {
        point("before resume", false);
        setRuns(owner, true);
        started.add(owner.uuid());
        point("after resume", false);
    }

    @Override
    public void restorePort(ResourceOwner owner) {
        point("before reopen", false);
        put(ResourceKind.PORT, owner, true);
        point("after reopen", false);
    }

    @Override
    public void requestPowerOff(ResourceOwner owner) {
        requested.add(owner.uuid());
    }

    @Override
    public void remove(ResourceOwner owner, ResourceKind part) throws IOException {
        point("before remove " + part, false);
        if (silent.contains(part) || failing.contains(part)) {
            throw new IOException(part + " does not answer");
        }
        HostResource resource = of(part).get(part.nameOf(owner));
        if (resource != null) {
            requireAllowed(owner, part, resource);
            of(part).remove(resource.name());
        }
        point("after remove " + part, false);
    }

    private void requireAllowed(ResourceOwner owner, ResourceKind part, HostResource resource) {
        require(resource.owner().isEmpty() || resource.owner().get().equals(owner), "touched another's " + resource);
        require(
                answered.size() == ResourceKind.values().length && stepsAnswered,
                "removed before all was heard: " + resource);
        for (ResourceKind above : ResourceKind.values()) {
            HostResource higher = of(above).get(above.nameOf(owner));
            require(
                    above.compareTo(part) <= 0
                            || higher == null
                            || !higher.owner().equals(Optional.of(owner)),
                    "removed below what is there: " + resource);
            require(above.compareTo(part) <= 0 || !silent.contains(above), "removed below the unknown: " + resource);
        }
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    VmStepRunner stepRunner(ResourceOwner owner) {
        return new VmStepRunner() {
            @Override
            public boolean isFree(VmStartStep step) {
                return part(step)
                        .map(part -> !of(part).containsKey(part.nameOf(owner)))
                        .orElse(true);
            }

            @Override
            public void run(VmStartStep step) throws IOException {
                point("before " + step, true);
                if (part(step).filter(failing::contains).isPresent()) {
                    throw new IOException(step + " fails");
                }
                effect(owner, step);
                point("after " + step, false);
            }
        };
    }

    private void effect(ResourceOwner owner, VmStartStep step) {
        switch (step) {
            case OVERLAY, TAP -> {
                part(step).ifPresent(part -> put(part, owner, false));
                point("amid " + step, false);
                part(step).ifPresent(part -> put(part, owner, true));
            }
            case SCRATCH, PORT -> part(step).ifPresent(part -> put(part, owner, true));
            case DOMAIN_PAUSED -> {
                put(ResourceKind.DOMAIN, owner, true);
                setRuns(owner, false);
            }
            case MOVED -> moved.add(owner.uuid());
            case RUNNING -> {
                setRuns(owner, true);
                started.add(owner.uuid());
            }
            default -> throw new IllegalArgumentException(step.name());
        }
    }

    private static Optional<ResourceKind> part(VmStartStep step) {
        for (ResourceKind part : ResourceKind.values()) {
            if (part.startStep() == step) {
                return Optional.of(part);
            }
        }
        return Optional.empty();
    }

    Map<String, HostResource> of(ResourceKind part) {
        return resources.getOrDefault(part, Map.of());
    }

    private void put(ResourceKind part, ResourceOwner owner, boolean marked) {
        put(new HostResource(part, part.nameOf(owner), marked ? Optional.of(owner) : Optional.empty(), true));
    }

    void put(HostResource resource) {
        of(resource.kind()).put(resource.name(), resource);
    }

    void lose(ResourceOwner owner, ResourceKind part) {
        of(part).remove(part.nameOf(owner));
    }

    void setRuns(ResourceOwner owner, boolean runs) {
        String name = ResourceKind.DOMAIN.nameOf(owner);
        of(ResourceKind.DOMAIN)
                .computeIfPresent(
                        name, (same, resource) -> new HostResource(ResourceKind.DOMAIN, same, resource.owner(), runs));
    }

    void endJob(ResourceOwner owner) {
        endedJobs.add(owner.globalJob());
    }

    boolean hasBegun(ResourceOwner owner) {
        return started.contains(owner.uuid());
    }

    boolean wasAsked(ResourceOwner owner) {
        return requested.contains(owner.uuid());
    }

    /** What is called as its own is, and not marked as another's. */
    Set<HostResource> of(ResourceOwner owner) {
        Set<HostResource> found = new HashSet<>();
        for (ResourceKind part : ResourceKind.values()) {
            HostResource resource = of(part).get(part.nameOf(owner));
            if (resource != null && resource.owner().map(owner::equals).orElse(true)) {
                found.add(resource);
            }
        }
        return found;
    }

    /** Whether it is whole, in its step, and its guest runs. */
    boolean isRight(ResourceOwner owner, boolean scratch) {
        Map<ResourceKind, HostResource> own = new HashMap<>();
        of(owner).forEach(resource -> own.put(resource.kind(), resource));
        return own.size() == (scratch ? ResourceKind.values().length : ResourceKind.values().length - 1)
                && own.values().stream()
                        .allMatch(resource ->
                                resource.running() && resource.owner().isPresent())
                && inStep().contains(owner.uuid());
    }

    /** What {@link #observe} would say, silent sources too. */
    Set<HostResource> all() {
        return resources.values().stream()
                .flatMap(each -> each.values().stream())
                .collect(Collectors.toSet());
    }
}
