package org.cloister.host.health;

import java.util.Optional;
import java.util.Set;

/**
 * This node in Global Slurm.
 *
 * @param words its state and all that is said beside, such as {@code idle} and {@code drain}
 * @param reason as somebody wrote it; of no meaning while the node takes jobs
 */
public record SlurmNodeState(Set<String> words, String reason) {
    public SlurmNodeState {
        words = Set.copyOf(words);
    }

    /** By whomever; no job begins here then. */
    public boolean isOutOfService() {
        return isDown() || words.contains("drain");
    }

    /** To resume such a node would say that it answers, which we do not know. */
    public boolean isDown() {
        return words.contains("down") || words.contains("fail") || words.contains("error");
    }

    /** Empty if it takes jobs, or if somebody else has taken it out. */
    public Optional<DrainReason> ours() {
        return words.contains("drain") ? DrainReason.parse(reason) : Optional.empty();
    }
}
