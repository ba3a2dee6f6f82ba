package org.cloister.host.ledger;

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
import org.cloister.host.vm.VmOwner;

/** Holds the ledger against what is there and puts it right: after a start, on events, and now and then. Of one thread. */
public final class Round {
    /** Adopted, ended, taken away, seen to be gone: four, and as many again for what happens meanwhile. */
    private static final int MAX_PASSES = 8;

    private final Ledger ledger;
    private final Building building;
    private final Machine machine;
    private final Times times;
    private final InstantSource clock;
    private final Set<Part> heard = EnumSet.noneOf(Part.class);
    /** UUIDs; of domains that are in the ledger. */
    private final Set<String> died = ConcurrentHashMap.newKeySet();

    private boolean heardSteps;

    public Round(Ledger ledger, Building building, Machine machine, Times times, InstantSource clock) {
        this.ledger = ledger;
        this.building = building;
        this.machine = machine;
        this.times = times;
        this.clock = clock;
    }

    /**
     * How a round ended.
     *
     * @param done in order
     * @param silent sources that did not answer the last look
     * @param unheard sources that have not answered since the start, for which everything waits
     * @param troubles what could not be asked or done, for people
     * @param strays what is left alone, and is no obstacle
     * @param atMs when it was over, in ms since the epoch
     * @param nextMs when, in ms since the epoch, the next round is due of itself; at once if it did not come to an end
     */
    public record Outcome(
            List<Action> done,
            Set<Part> silent,
            List<String> unheard,
            List<String> troubles,
            List<Stray> strays,
            long atMs,
            OptionalLong nextMs) {
        /** Of a round that came to nothing. */
        public static Outcome failed(String trouble, long nowMs) {
            return new Outcome(
                    List.of(), Set.of(), List.of(), List.of(trouble), List.of(), nowMs, OptionalLong.empty());
        }

        public Outcome and(String trouble) {
            List<String> all = new ArrayList<>(troubles);
            all.add(trouble);
            return new Outcome(done, silent, unheard, List.copyOf(all), strays, atMs, nextMs);
        }

        /** Whether this host can clean up after its VMs. */
        public boolean isClean() {
            return unheard.isEmpty() && troubles.isEmpty();
        }
    }

    /** Looks and acts until there is nothing to do, or nothing that can be done. */
    public Outcome run() {
        List<Action> done = new ArrayList<>();
        List<String> troubles = new ArrayList<>();
        List<Stray> strays = List.of();
        Set<Part> silent = EnumSet.allOf(Part.class);
        boolean again = true;
        for (int pass = 0; again && pass < MAX_PASSES; pass++) {
            Set<String> busy = building.now();
            List<Entry> entries = ledger.entries();
            Seen seen = machine.look();
            hear(seen);
            silent = seen.silent();
            troubles.clear();
            troubles.addAll(seen.unknown());
            if (!unheard().isEmpty()) {
                break;
            }
            Course.Books books = new Course.Books(entries, busy, ledger.entries(), Set.copyOf(died));
            again = act(Course.next(books, seen, times, clock.millis()), done, troubles);
            strays = new Matching(entries, seen).strays(books.after());
        }
        Set<String> ours =
                ledger.entries().stream().map(entry -> entry.owner().uuid()).collect(Collectors.toSet());
        died.removeIf(uuid -> !ours.contains(uuid));
        boolean unsettled = again && unheard().isEmpty();
        OptionalLong next = unsettled ? OptionalLong.of(clock.millis()) : times.next(ledger.entries());
        return new Outcome(List.copyOf(done), silent, unheard(), List.copyOf(troubles), strays, clock.millis(), next);
    }

    /** The hypervisor has told of a domain, whosever it is, that it died. From any thread. */
    public void died(String uuid) {
        died.add(uuid);
    }

    private void hear(Seen seen) {
        for (Part part : Part.values()) {
            if (seen.knows(part)) {
                heard.add(part);
            }
        }
        heardSteps |= seen.inStep().isKnown();
    }

    private List<String> unheard() {
        List<String> unheard = new ArrayList<>();
        EnumSet.allOf(Part.class).stream()
                .filter(part -> !heard.contains(part))
                .forEach(part -> unheard.add(part.name()));
        if (!heardSteps) {
            unheard.add("STEPS");
        }
        return unheard;
    }

    /** @return whether another look is worth it */
    private boolean act(List<Action> actions, List<Action> done, List<String> troubles) {
        Set<VmOwner> stuck = new HashSet<>();
        boolean changed = false;
        for (Action action : actions) {
            if (stuck.contains(action.owner())) {
                continue;
            }
            try {
                perform(action);
                done.add(action);
                changed |= !(action instanceof Action.AskOff);
            } catch (IOException e) {
                stuck.add(action.owner());
                troubles.add(action + ": " + e.getMessage());
            }
        }
        return changed;
    }

    private void perform(Action action) throws IOException {
        VmOwner owner = action.owner();
        if (action instanceof Action.Finish finish) {
            ledger.end(owner.uuid(), finish.end());
        } else if (action instanceof Action.Adopt adopt) {
            ledger.adopt(adopt.entry());
        } else if (action instanceof Action.Resume) {
            machine.resume(owner);
        } else if (action instanceof Action.Reopen) {
            machine.reopen(owner);
        } else if (action instanceof Action.AskOff) {
            machine.askOff(owner);
        } else if (action instanceof Action.CutOff) {
            machine.remove(owner, Part.DOMAIN);
        } else if (action instanceof Action.Remove remove) {
            machine.remove(owner, remove.part());
        } else if (action instanceof Action.Forget) {
            ledger.forget(owner.uuid(), clock.millis());
        } else {
            throw new IllegalStateException("action: want one of those above, have " + action);
        }
    }
}
