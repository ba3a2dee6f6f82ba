package org.cloister.host.ledger;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.cloister.host.vm.VmOwner;

/**
 * Which thing is of which entry: the one with the entry's mark and name. A tap or a folder gets its mark after it is made,
 * so without one it is the entry's by its name, if the step that makes it was begun (which is not done where something of
 * the name is there before) and no living VM has another claim to it.
 */
final class Matching {
    private final Seen seen;
    private final Collection<Entry> entries;
    private final Map<Part, Map<String, Thing>> byName = new HashMap<>();

    Matching(Collection<Entry> entries, Seen seen) {
        this.entries = entries;
        this.seen = seen;
        for (Part part : Part.values()) {
            Map<String, Thing> things = new HashMap<>();
            seen.all(part).forEach(thing -> things.put(thing.name(), thing));
            byName.put(part, things);
        }
    }

    /** @return empty also if nothing is known of the part */
    Optional<Thing> find(Entry entry, Part part) {
        return named(part, part.nameOf(entry.owner()))
                .filter(thing -> thing.owner()
                        .map(entry.owner()::equals)
                        .orElseGet(() -> mayBeUnmarked(part) && entry.hasBegun(part.step()) && isOnlyOne(entry, part)));
    }

    private Optional<Thing> named(Part part, String name) {
        return Optional.ofNullable(byName.getOrDefault(part, Map.of()).get(name));
    }

    private static boolean mayBeUnmarked(Part part) {
        return part == Part.TAP || part == Part.OVERLAY;
    }

    private boolean isOnlyOne(Entry entry, Part part) {
        String name = part.nameOf(entry.owner());
        return entries.stream()
                .filter(other ->
                        !other.equals(entry) && part.nameOf(other.owner()).equals(name))
                .allMatch(Entry::isEnding);
    }

    /**
     * What is marked and named as ours and has no entry.
     *
     * @param after all entries, after the sources were asked
     */
    Map<VmOwner, Set<Part>> orphans(Collection<Entry> after) {
        Set<String> known = after.stream().map(entry -> entry.owner().uuid()).collect(Collectors.toSet());
        Map<VmOwner, Set<Part>> orphans = new LinkedHashMap<>();
        for (Thing thing : unclaimed()) {
            thing.owner()
                    .filter(owner -> !known.contains(owner.uuid()) && isNamedFor(thing, owner))
                    .ifPresent(owner -> orphans.computeIfAbsent(owner, some -> new HashSet<>())
                            .add(thing.part()));
        }
        return orphans;
    }

    /**
     * What is named or marked as ours and is in no action.
     *
     * @param after all entries, after the sources were asked
     */
    List<Stray> strays(Collection<Entry> after) {
        List<Stray> strays = new ArrayList<>();
        for (Thing thing : unclaimed()) {
            strangeness(thing, after).ifPresent(why -> strays.add(new Stray(thing.part(), thing.name(), why)));
        }
        return List.copyOf(strays);
    }

    private static Optional<String> strangeness(Thing thing, Collection<Entry> after) {
        Part part = thing.part();
        if (thing.owner().isEmpty()) {
            boolean isNew =
                    after.stream().anyMatch(entry -> part.nameOf(entry.owner()).equals(thing.name()));
            return isNew ? Optional.empty() : Optional.of("named as ours, without an owner's mark");
        }
        VmOwner owner = thing.owner().get();
        if (!isNamedFor(thing, owner)) {
            return Optional.of("marked as VM " + owner.uuid() + "'s, whose is called " + part.nameOf(owner));
        }
        boolean other = after.stream()
                .map(Entry::owner)
                .anyMatch(entry -> entry.uuid().equals(owner.uuid()) && !entry.equals(owner));
        return other
                ? Optional.of("marked as VM " + owner.uuid() + "'s, with another project, ticket, slot or job")
                : Optional.empty();
    }

    private static boolean isNamedFor(Thing thing, VmOwner owner) {
        return thing.part().nameOf(owner).equals(thing.name());
    }

    private List<Thing> unclaimed() {
        Set<Thing> claimed = new HashSet<>();
        for (Entry entry : entries) {
            for (Part part : Part.values()) {
                find(entry, part).ifPresent(claimed::add);
            }
        }
        List<Thing> rest = new ArrayList<>();
        for (Part part : Part.values()) {
            seen.all(part).stream().filter(thing -> !claimed.contains(thing)).forEach(rest::add);
        }
        return rest;
    }
}
