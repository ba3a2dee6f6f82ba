package org.cloister.host.reconcile;

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
import org.cloister.host.vm.ResourceOwner;

/**
 * Which thing is of which entry: the one with the entry's mark and name. A tap or a folder gets its mark after it is made,
 * so without one it is the entry's by its name, if the step that makes it was begun (which is not done where something of
 * the name is there before) and no living VM has another claim to it.
 */
final class ResourceMatcher {
    private final ObservedState seen;
    private final Collection<VmLedgerEntry> entries;
    private final Map<ResourceKind, Map<String, HostResource>> byName = new HashMap<>();

    ResourceMatcher(Collection<VmLedgerEntry> entries, ObservedState seen) {
        this.entries = entries;
        this.seen = seen;
        for (ResourceKind part : ResourceKind.values()) {
            Map<String, HostResource> things = new HashMap<>();
            seen.all(part).forEach(thing -> things.put(thing.name(), thing));
            byName.put(part, things);
        }
    }

    /** @return empty also if nothing is known of the part */
    Optional<HostResource> find(VmLedgerEntry entry, ResourceKind part) {
        return named(part, part.nameOf(entry.owner()))
                .filter(thing -> thing.owner()
                        .map(entry.owner()::equals)
                        .orElseGet(() ->
                                mayBeUnmarked(part) && entry.hasBegun(part.startStep()) && isOnlyOne(entry, part)));
    }

    private Optional<HostResource> named(ResourceKind part, String name) {
        return Optional.ofNullable(byName.getOrDefault(part, Map.of()).get(name));
    }

    private static boolean mayBeUnmarked(ResourceKind part) {
        return part == ResourceKind.TAP || part == ResourceKind.OVERLAY;
    }

    private boolean isOnlyOne(VmLedgerEntry entry, ResourceKind part) {
        String name = part.nameOf(entry.owner());
        return entries.stream()
                .filter(other ->
                        !other.equals(entry) && part.nameOf(other.owner()).equals(name))
                .allMatch(VmLedgerEntry::isEnding);
    }

    /**
     * What is marked and named as ours and has no entry.
     *
     * @param after all entries, after the sources were asked
     */
    Map<ResourceOwner, Set<ResourceKind>> unrecordedVms(Collection<VmLedgerEntry> after) {
        Set<String> known = after.stream().map(entry -> entry.owner().uuid()).collect(Collectors.toSet());
        Map<ResourceOwner, Set<ResourceKind>> orphans = new LinkedHashMap<>();
        for (HostResource thing : unclaimed()) {
            thing.owner()
                    .filter(owner -> !known.contains(owner.uuid()) && isNamedFor(thing, owner))
                    .ifPresent(owner -> orphans.computeIfAbsent(owner, some -> new HashSet<>())
                            .add(thing.kind()));
        }
        return orphans;
    }

    /**
     * What is named or marked as ours and is in no action.
     *
     * @param after all entries, after the sources were asked
     */
    List<OrphanResource> orphanResources(Collection<VmLedgerEntry> after) {
        List<OrphanResource> strays = new ArrayList<>();
        for (HostResource thing : unclaimed()) {
            strangeness(thing, after).ifPresent(why -> strays.add(new OrphanResource(thing.kind(), thing.name(), why)));
        }
        return List.copyOf(strays);
    }

    private static Optional<String> strangeness(HostResource thing, Collection<VmLedgerEntry> after) {
        ResourceKind part = thing.kind();
        if (thing.owner().isEmpty()) {
            boolean isNew =
                    after.stream().anyMatch(entry -> part.nameOf(entry.owner()).equals(thing.name()));
            return isNew ? Optional.empty() : Optional.of("named as ours, without an owner's mark");
        }
        ResourceOwner owner = thing.owner().get();
        if (!isNamedFor(thing, owner)) {
            return Optional.of("marked as VM " + owner.uuid() + "'s, whose is called " + part.nameOf(owner));
        }
        boolean other = after.stream()
                .map(VmLedgerEntry::owner)
                .anyMatch(entry -> entry.uuid().equals(owner.uuid()) && !entry.equals(owner));
        return other
                ? Optional.of("marked as VM " + owner.uuid() + "'s, with another project, ticket, slot or job")
                : Optional.empty();
    }

    private static boolean isNamedFor(HostResource thing, ResourceOwner owner) {
        return thing.kind().nameOf(owner).equals(thing.name());
    }

    private List<HostResource> unclaimed() {
        Set<HostResource> claimed = new HashSet<>();
        for (VmLedgerEntry entry : entries) {
            for (ResourceKind part : ResourceKind.values()) {
                find(entry, part).ifPresent(claimed::add);
            }
        }
        List<HostResource> rest = new ArrayList<>();
        for (ResourceKind part : ResourceKind.values()) {
            seen.all(part).stream().filter(thing -> !claimed.contains(thing)).forEach(rest::add);
        }
        return rest;
    }
}
