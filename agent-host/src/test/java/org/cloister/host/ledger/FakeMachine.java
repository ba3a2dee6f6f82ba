package org.cloister.host.ledger;

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
import org.cloister.host.vm.VmOwner;

/**
 * A host in memory: things by name, steps of jobs, and processes in them. It outlives the daemon, which dies at the point
 * that {@link #killAt} names, before, amid or after an effect. It fails the test at once if something is taken away that is
 * another's, in the wrong order, or with a source unheard.
 */
final class FakeMachine implements Machine {
    private final Map<Part, Map<String, Thing>> things = new EnumMap<>(Part.class);
    /** UUIDs of domains that were moved into their job's step. */
    private final Set<String> moved = new TreeSet<>();
    /** UUIDs of domains whose guest has begun. */
    private final Set<String> begun = new TreeSet<>();

    private final Set<Long> endedJobs = new HashSet<>();
    private final Set<Part> silent = EnumSet.noneOf(Part.class);
    private final Set<Part> heard = EnumSet.noneOf(Part.class);
    private final Set<String> asked = new HashSet<>();
    private boolean silentSteps;
    private boolean heardSteps;
    private int points;
    private int killAt = Integer.MAX_VALUE;
    private Set<Part> failing = EnumSet.noneOf(Part.class);

    FakeMachine() {
        for (Part part : Part.values()) {
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
            throw new Killed(where, beforeMaking);
        }
    }

    void silence(Set<Part> parts, boolean steps) {
        silent.clear();
        silent.addAll(parts);
        silentSteps = steps;
    }

    void fail(Set<Part> parts) {
        failing = parts;
    }

    @Override
    public Seen look() {
        Map<Part, Answer<Thing>> answers = new EnumMap<>(Part.class);
        for (Part part : Part.values()) {
            if (silent.contains(part)) {
                answers.put(part, new Answer.Unknown<>("silent"));
            } else {
                heard.add(part);
                answers.put(part, new Answer.Known<>(new HashSet<>(of(part).values())));
            }
        }
        heardSteps |= !silentSteps;
        return new Seen(answers, silentSteps ? new Answer.Unknown<>("silent") : new Answer.Known<>(inStep()));
    }

    private Set<String> inStep() {
        return of(Part.DOMAIN).values().stream()
                .flatMap(thing -> thing.owner().stream())
                .filter(owner -> moved.contains(owner.uuid()) && !endedJobs.contains(owner.globalJob()))
                .map(VmOwner::uuid)
                .collect(Collectors.toSet());
    }

    @Override
    public void resume(VmOwner owner) {
        point("before resume", false);
        setRuns(owner, true);
        begun.add(owner.uuid());
        point("after resume", false);
    }

    @Override
    public void reopen(VmOwner owner) {
        point("before reopen", false);
        put(Part.PORT, owner, true);
        point("after reopen", false);
    }

    @Override
    public void askOff(VmOwner owner) {
        asked.add(owner.uuid());
    }

    @Override
    public void remove(VmOwner owner, Part part) throws IOException {
        point("before remove " + part, false);
        if (silent.contains(part) || failing.contains(part)) {
            throw new IOException(part + " does not answer");
        }
        Thing thing = of(part).get(part.nameOf(owner));
        if (thing != null) {
            requireAllowed(owner, part, thing);
            of(part).remove(thing.name());
        }
        point("after remove " + part, false);
    }

    private void requireAllowed(VmOwner owner, Part part, Thing thing) {
        require(thing.owner().isEmpty() || thing.owner().get().equals(owner), "touched another's " + thing);
        require(heard.size() == Part.values().length && heardSteps, "removed before all was heard: " + thing);
        for (Part above : Part.values()) {
            Thing higher = of(above).get(above.nameOf(owner));
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

    Maker maker(VmOwner owner) {
        return new Maker() {
            @Override
            public boolean isFree(Step step) {
                return part(step)
                        .map(part -> !of(part).containsKey(part.nameOf(owner)))
                        .orElse(true);
            }

            @Override
            public void make(Step step) throws IOException {
                point("before " + step, true);
                if (part(step).filter(failing::contains).isPresent()) {
                    throw new IOException(step + " fails");
                }
                effect(owner, step);
                point("after " + step, false);
            }
        };
    }

    private void effect(VmOwner owner, Step step) {
        switch (step) {
            case OVERLAY, TAP -> {
                part(step).ifPresent(part -> put(part, owner, false));
                point("amid " + step, false);
                part(step).ifPresent(part -> put(part, owner, true));
            }
            case SCRATCH, PORT -> part(step).ifPresent(part -> put(part, owner, true));
            case DOMAIN_PAUSED -> {
                put(Part.DOMAIN, owner, true);
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

    private static Optional<Part> part(Step step) {
        for (Part part : Part.values()) {
            if (part.step() == step) {
                return Optional.of(part);
            }
        }
        return Optional.empty();
    }

    Map<String, Thing> of(Part part) {
        return things.getOrDefault(part, Map.of());
    }

    private void put(Part part, VmOwner owner, boolean marked) {
        put(new Thing(part, part.nameOf(owner), marked ? Optional.of(owner) : Optional.empty(), true));
    }

    void put(Thing thing) {
        of(thing.part()).put(thing.name(), thing);
    }

    void lose(VmOwner owner, Part part) {
        of(part).remove(part.nameOf(owner));
    }

    void setRuns(VmOwner owner, boolean runs) {
        String name = Part.DOMAIN.nameOf(owner);
        of(Part.DOMAIN).computeIfPresent(name, (same, thing) -> new Thing(Part.DOMAIN, same, thing.owner(), runs));
    }

    void endJob(VmOwner owner) {
        endedJobs.add(owner.globalJob());
    }

    boolean hasBegun(VmOwner owner) {
        return begun.contains(owner.uuid());
    }

    boolean wasAsked(VmOwner owner) {
        return asked.contains(owner.uuid());
    }

    /** What is called as its own is, and not marked as another's. */
    Set<Thing> of(VmOwner owner) {
        Set<Thing> found = new HashSet<>();
        for (Part part : Part.values()) {
            Thing thing = of(part).get(part.nameOf(owner));
            if (thing != null && thing.owner().map(owner::equals).orElse(true)) {
                found.add(thing);
            }
        }
        return found;
    }

    /** Whether it is whole, in its step, and its guest runs. */
    boolean isRight(VmOwner owner, boolean scratch) {
        Map<Part, Thing> mine = new HashMap<>();
        of(owner).forEach(thing -> mine.put(thing.part(), thing));
        return mine.size() == (scratch ? Part.values().length : Part.values().length - 1)
                && mine.values().stream()
                        .allMatch(thing -> thing.runs() && thing.owner().isPresent())
                && inStep().contains(owner.uuid());
    }

    /** What {@link #look} would say, silent sources too. */
    Set<Thing> all() {
        return things.values().stream().flatMap(each -> each.values().stream()).collect(Collectors.toSet());
    }
}
