package org.cloister.host.reconcile;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Observed state of this host: the answers of all local sources, queried in turn.
 *
 * @param resources answer for each kind of resource
 * @param inStep UUIDs of domains whose process is in a live step of their owner's job
 */
public record ObservedState(Map<ResourceKind, SourceAnswer<HostResource>> resources, SourceAnswer<String> inStep) {
    /** @throws IllegalArgumentException if a kind is missing */
    public ObservedState {
        if (!resources.keySet().equals(EnumSet.allOf(ResourceKind.class))) {
            throw new IllegalArgumentException("seen: want an answer for each part, have " + resources.keySet());
        }
        resources = Map.copyOf(new EnumMap<>(resources));
    }

    boolean knows(ResourceKind part) {
        return answer(part).isKnown();
    }

    boolean knowsAll() {
        return inStep.isKnown() && resources.values().stream().allMatch(SourceAnswer::isKnown);
    }

    /** Returns the kinds whose sources did not answer. */
    Set<ResourceKind> silentSources() {
        Set<ResourceKind> silent = EnumSet.allOf(ResourceKind.class);
        silent.removeIf(this::knows);
        return silent;
    }

    /** Returns, for each source without an answer, why there is none. */
    List<String> unknownReasons() {
        List<String> unknown = new ArrayList<>();
        for (ResourceKind part : ResourceKind.values()) {
            if (answer(part) instanceof SourceAnswer.Unknown<HostResource> answer) {
                unknown.add(part + " unknown: " + answer.why());
            }
        }
        if (inStep instanceof SourceAnswer.Unknown<String> answer) {
            unknown.add("steps unknown: " + answer.why());
        }
        return unknown;
    }

    Set<HostResource> all(ResourceKind part) {
        return answer(part).all();
    }

    private SourceAnswer<HostResource> answer(ResourceKind part) {
        SourceAnswer<HostResource> answer = resources.get(part);
        return answer == null ? new SourceAnswer.Unknown<>("not asked") : answer;
    }
}
