package org.cloister.host.reconcile;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What all local sources said, asked one after the other.
 *
 * @param resources of every part
 * @param inStep UUIDs of domains whose process lies in a living step of their owner's job
 */
public record ObservedState(Map<ResourceKind, SourceAnswer<HostResource>> resources, SourceAnswer<String> inStep) {
    /** @throws IllegalArgumentException if a part is missing */
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

    /** Sources that did not answer. */
    Set<ResourceKind> silentSources() {
        Set<ResourceKind> silent = EnumSet.allOf(ResourceKind.class);
        silent.removeIf(this::knows);
        return silent;
    }

    /** Why nothing is known, of each source of which nothing is. */
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
