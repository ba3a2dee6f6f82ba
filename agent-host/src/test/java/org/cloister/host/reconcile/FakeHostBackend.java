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
    private final Map<ResourceKind, Map<String, HostResource>> things = new EnumMap<>(ResourceKind.class);
    /** UUIDs of domains that were moved into their job's step. */
    private final Set<String> moved = new TreeSet<>();
    /** UUIDs of domains whose guest has begun. */
    private final Set<String> begun = new TreeSet<>();

    private final Set<Long> endedJobs = new HashSet<>();
    private final Set<ResourceKind> silent = EnumSet.noneOf(ResourceKind.class);
    private final Set<ResourceKind> heard = EnumSet.noneOf(ResourceKind.class);
    private final Set<String> asked = new HashSet<>();
    private boolean silentSteps;
    private boolean heardSteps;
    private int points;
    private int killAt = Integer.MAX_VALUE;
    private Set<ResourceKind> failing = EnumSet.noneOf(ResourceKind.class);

    FakeHostBackend() {
        for (ResourceKind part : ResourceKind.values()) {
            things.put(part, new TreeMap<>());
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
        heard.clear();
        heardSteps = false;
    }

    private void point(String where, boolean beforeMaking) {
        points++;
        if (points == killAt) {
            throw new SimulatedKill(where, beforeMaking);
        }
    }

    void silence(Set<ResourceKind> parts, boolean steps) {
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
                heard.add(part);
                answers.put(part, new SourceAnswer.Known<>(new HashSet<>(of(part).values())));
            }
        }
        heardSteps |= !silentSteps;
        return new ObservedState(
                answers, silentSteps ? new SourceAnswer.Unknown<>("silent") : new SourceAnswer.Known<>(inStep()));
    }

    private Set<String> inStep() {
        return of(ResourceKind.DOMAIN).values().stream()
                .flatMap(thing -> thing.owner().stream())
                .filter(owner -> moved.contains(owner.uuid()) && !endedJobs.contains(owner.globalJob()))
                .map(ResourceOwner::uuid)
                .collect(Collectors.toSet());
    }

    @Override
    public void resume(ResourceOwner owner) {
        point("before resume", false);
        setRuns(owner, true);
        begun.add(owner.uuid());
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
        asked.add(owner.uuid());
    }

    @Override
    public void remove(ResourceOwner owner, ResourceKind part) throws IOException {
        point("before remove " + part, false);
        if (silent.contains(part) || failing.contains(part)) {
            throw new IOException(part + " does not answer");
        }
        HostResource thing = of(part).get(part.nameOf(owner));
        if (thing != null) {
            requireAllowed(owner, part, thing);
            of(part).remove(thing.name());
        }
        point("after remove " + part, false);
    }

    private void requireAllowed(ResourceOwner owner, ResourceKind part, HostResource thing) {
        require(thing.owner().isEmpty() || thing.owner().get().equals(owner), "touched another's " + thing);
        require(heard.size() == ResourceKind.values().length && heardSteps, "removed before all was heard: " + thing);
        for (ResourceKind above : ResourceKind.values()) {
            HostResource higher = of(above).get(above.nameOf(owner));
            require(
                    above.compareTo(part) <= 0
                            || higher == null
                            || !higher.owner().equals(Optional.of(owner)),
                    "removed below what is there: " + thing);
            require(above.compareTo(part) <= 0 || !silent.contains(above), "removed below the unknown: " + thing);
        }
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    VmStepRunner maker(ResourceOwner owner) {
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
                begun.add(owner.uuid());
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
        return things.getOrDefault(part, Map.of());
    }

    private void put(ResourceKind part, ResourceOwner owner, boolean marked) {
        put(new HostResource(part, part.nameOf(owner), marked ? Optional.of(owner) : Optional.empty(), true));
    }

    void put(HostResource thing) {
        of(thing.kind()).put(thing.name(), thing);
    }

    void lose(ResourceOwner owner, ResourceKind part) {
        of(part).remove(part.nameOf(owner));
    }

    void setRuns(ResourceOwner owner, boolean runs) {
        String name = ResourceKind.DOMAIN.nameOf(owner);
        of(ResourceKind.DOMAIN)
                .computeIfPresent(
                        name, (same, thing) -> new HostResource(ResourceKind.DOMAIN, same, thing.owner(), runs));
    }

    void endJob(ResourceOwner owner) {
        endedJobs.add(owner.globalJob());
    }

    boolean hasBegun(ResourceOwner owner) {
        return begun.contains(owner.uuid());
    }

    boolean wasAsked(ResourceOwner owner) {
        return asked.contains(owner.uuid());
    }

    /** What is called as its own is, and not marked as another's. */
    Set<HostResource> of(ResourceOwner owner) {
        Set<HostResource> found = new HashSet<>();
        for (ResourceKind part : ResourceKind.values()) {
            HostResource thing = of(part).get(part.nameOf(owner));
            if (thing != null && thing.owner().map(owner::equals).orElse(true)) {
                found.add(thing);
            }
        }
        return found;
    }

    /** Whether it is whole, in its step, and its guest runs. */
    boolean isRight(ResourceOwner owner, boolean scratch) {
        Map<ResourceKind, HostResource> mine = new HashMap<>();
        of(owner).forEach(thing -> mine.put(thing.kind(), thing));
        return mine.size() == (scratch ? ResourceKind.values().length : ResourceKind.values().length - 1)
                && mine.values().stream()
                        .allMatch(thing -> thing.running() && thing.owner().isPresent())
                && inStep().contains(owner.uuid());
    }

    /** What {@link #observe} would say, silent sources too. */
    Set<HostResource> all() {
        return things.values().stream().flatMap(each -> each.values().stream()).collect(Collectors.toSet());
    }
}
