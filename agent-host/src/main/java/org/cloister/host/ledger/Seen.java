package org.cloister.host.ledger;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What all local sources said, asked one after the other.
 *
 * @param things of every part
 * @param inStep UUIDs of domains whose process lies in a living step of their owner's job
 */
public record Seen(Map<Part, Answer<Thing>> things, Answer<String> inStep) {
    /** @throws IllegalArgumentException if a part is missing */
    public Seen {
        if (!things.keySet().equals(EnumSet.allOf(Part.class))) {
            throw new IllegalArgumentException("seen: want an answer for each part, have " + things.keySet());
        }
        things = Map.copyOf(new EnumMap<>(things));
    }

    boolean knows(Part part) {
        return answer(part).isKnown();
    }

    boolean knowsAll() {
        return inStep.isKnown() && things.values().stream().allMatch(Answer::isKnown);
    }

    /** Sources that did not answer. */
    Set<Part> silent() {
        Set<Part> silent = EnumSet.allOf(Part.class);
        silent.removeIf(this::knows);
        return silent;
    }

    /** Why nothing is known, of each source of which nothing is. */
    List<String> unknown() {
        List<String> unknown = new ArrayList<>();
        for (Part part : Part.values()) {
            if (answer(part) instanceof Answer.Unknown<Thing> answer) {
                unknown.add(part + " unknown: " + answer.why());
            }
        }
        if (inStep instanceof Answer.Unknown<String> answer) {
            unknown.add("steps unknown: " + answer.why());
        }
        return unknown;
    }

    Set<Thing> all(Part part) {
        return answer(part).all();
    }

    private Answer<Thing> answer(Part part) {
        Answer<Thing> answer = things.get(part);
        return answer == null ? new Answer.Unknown<>("not asked") : answer;
    }
}
