package org.cloister.lab.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.cloister.lab.LabException;

/** Claims of the demo about Cloister, each with the observation that supports it in this run. */
final class DemoClaims {
    private final List<Claim> claims = new ArrayList<>();

    /** @param seen what was inspected, and the finding */
    record Claim(String claim, String seen) {}

    void record(String claim, String seen) {
        claims.add(new Claim(claim, seen));
    }

    /** @throws LabException if the claim is false, with the observation */
    void require(boolean holds, String claim, String seen) throws LabException {
        if (!holds) {
            throw new LabException("does not hold: " + claim + ": " + seen, "keep this output and report it");
        }
        record(claim, seen);
    }

    /**
     * Requires that each of some attempts was refused.
     *
     * @param became result of each attempt
     * @param refused required prefix of each result
     */
    void refused(String claim, Map<String, String> became, String refused) throws LabException {
        require(
                became.values().stream().allMatch(each -> each.startsWith(refused)),
                claim,
                became.isEmpty()
                        ? "nothing was tried"
                        : String.join(", ", new TreeMap<>(became).keySet()) + ": " + refused);
    }

    List<Claim> all() {
        return List.copyOf(claims);
    }
}
