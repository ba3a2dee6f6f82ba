package org.cloister.lab.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.cloister.lab.LabException;

/** What the demo says of Cloister, and by what each was seen to be so in this run. */
final class DemoClaims {
    private final List<Claim> claims = new ArrayList<>();

    /** @param seen what was looked at, and what was found there */
    record Claim(String claim, String seen) {}

    void record(String claim, String seen) {
        claims.add(new Claim(claim, seen));
    }

    /** @throws LabException if it does not hold, with what was seen */
    void require(boolean holds, String claim, String seen) throws LabException {
        if (!holds) {
            throw new LabException("does not hold: " + claim + ": " + seen, "keep this output and report it");
        }
        record(claim, seen);
    }

    /**
     * Each of some attempts was refused.
     *
     * @param became what became of each
     * @param refused what it has to begin with
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
