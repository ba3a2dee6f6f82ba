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
 * Matches resources to ledger entries by mark and name. A tap or a folder gets its mark only after it was created;
 * without a mark it belongs to the entry with its name, if the step that creates it was started (which does not happen
 * while a resource of that name exists) and no other live VM has the same name.
 */
final class ResourceMatcher {
    private final ObservedState seen;
    private final Collection<VmLedgerEntry> entries;
    private final Map<ResourceKind, Map<String, HostResource>> byName = new HashMap<>();

    ResourceMatcher(Collection<VmLedgerEntry> entries, ObservedState seen) {
        this.entries = entries;
        this.seen = seen;
        for (ResourceKind part : ResourceKind.values()) {
            Map<String, HostResource> resources = new HashMap<>();
            seen.all(part).forEach(resource -> resources.put(resource.name(), resource));
            byName.put(part, resources);
        }
    }

    /**
     * Returns the entry's resource of a kind.
     *
     * @return empty also if the kind's source is unknown
     */
    Optional<HostResource> find(VmLedgerEntry entry, ResourceKind part) {
        return named(part, part.nameOf(entry.owner()))
                .filter(resource -> resource.owner()
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
     * Returns the marked and correctly named resources that have no entry, by owner.
     *
     * @param after all entries, read after the sources were queried
     */
    Map<ResourceOwner, Set<ResourceKind>> unrecordedVms(Collection<VmLedgerEntry> after) {
        Set<String> known = after.stream().map(entry -> entry.owner().uuid()).collect(Collectors.toSet());
        Map<ResourceOwner, Set<ResourceKind>> orphans = new LinkedHashMap<>();
        for (HostResource resource : unclaimed()) {
            resource.owner()
                    .filter(owner -> !known.contains(owner.uuid()) && isNamedFor(resource, owner))
                    .ifPresent(owner -> orphans.computeIfAbsent(owner, some -> new HashSet<>())
                            .add(resource.kind()));
        }
        return orphans;
    }

    /**
     * Returns the resources that are named or marked as Cloister's and occur in no action.
     *
     * @param after all entries, read after the sources were queried
     */
    List<OrphanResource> orphanResources(Collection<VmLedgerEntry> after) {
        List<OrphanResource> orphans = new ArrayList<>();
        for (HostResource resource : unclaimed()) {
            strangeness(resource, after)
                    .ifPresent(why -> orphans.add(new OrphanResource(resource.kind(), resource.name(), why)));
        }
        return List.copyOf(orphans);
    }

    private static Optional<String> strangeness(HostResource resource, Collection<VmLedgerEntry> after) {
        ResourceKind part = resource.kind();
        if (resource.owner().isEmpty()) {
            boolean isNew =
                    after.stream().anyMatch(entry -> part.nameOf(entry.owner()).equals(resource.name()));
            return isNew ? Optional.empty() : Optional.of("has a name of agent-host's and no owner's mark");
        }
        ResourceOwner owner = resource.owner().get();
        if (!isNamedFor(resource, owner)) {
            return Optional.of("marked as VM " + owner.uuid() + "'s, whose is called " + part.nameOf(owner));
        }
        boolean other = after.stream()
                .map(VmLedgerEntry::owner)
                .anyMatch(entry -> entry.uuid().equals(owner.uuid()) && !entry.equals(owner));
        return other
                ? Optional.of("marked as VM " + owner.uuid() + "'s, with another project, ticket, slot or job")
                : Optional.empty();
    }

    private static boolean isNamedFor(HostResource resource, ResourceOwner owner) {
        return resource.kind().nameOf(owner).equals(resource.name());
    }

    private List<HostResource> unclaimed() {
        Set<HostResource> claimed = new HashSet<>();
        for (VmLedgerEntry entry : entries) {
            for (ResourceKind part : ResourceKind.values()) {
                find(entry, part).ifPresent(claimed::add);
            }
        }
        List<HostResource> remaining = new ArrayList<>();
        for (ResourceKind part : ResourceKind.values()) {
            seen.all(part).stream()
                    .filter(resource -> !claimed.contains(resource))
                    .forEach(remaining::add);
        }
        return remaining;
    }
}
