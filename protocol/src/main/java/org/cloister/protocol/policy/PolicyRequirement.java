package org.cloister.protocol.policy;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;

/** Requirements of a policy that a successor may lower only by naming them. */
public enum PolicyRequirement {
    /** Lowered by a lower assurance level. */
    LEVEL("level") {
        @Override
        boolean isLess(ProjectPolicy before, ProjectPolicy after) {
            return after.level().compareTo(before.level()) < 0;
        }
    },
    /** Lowered by hosts that are shared with more projects. */
    SHARING("sharing") {
        @Override
        boolean isLess(ProjectPolicy before, ProjectPolicy after) {
            return !after.sharing().within(before.sharing());
        }
    },
    /** Lowered by permitting unencrypted traffic between workers. */
    WORKER_ENCRYPTION("workerEncryption") {
        @Override
        boolean isLess(ProjectPolicy before, ProjectPolicy after) {
            return before.workerEncryption() && !after.workerEncryption();
        }
    };

    private static final Pattern WORDS = Pattern.compile(
            Arrays.stream(values()).map(PolicyRequirement::toString).collect(Collectors.joining("|")));

    private final String member;

    PolicyRequirement(String member) {
        this.member = member;
    }

    abstract boolean isLess(ProjectPolicy before, ProjectPolicy after);

    /** Returns all requirements that {@code after} lowers. */
    static Set<PolicyRequirement> lessened(ProjectPolicy before, ProjectPolicy after) {
        EnumSet<PolicyRequirement> less = EnumSet.noneOf(PolicyRequirement.class);
        for (PolicyRequirement requirement : values()) {
            if (requirement.isLess(before, after)) {
                less.add(requirement);
            }
        }
        return less;
    }

    static Set<PolicyRequirement> read(StrictJson json, String key) throws MalformedException {
        EnumSet<PolicyRequirement> named = EnumSet.noneOf(PolicyRequirement.class);
        if (json.has(key)) {
            for (String word : json.texts(key, values().length, WORDS)) {
                Arrays.stream(values())
                        .filter(requirement -> requirement.member.equals(word))
                        .forEach(named::add);
            }
        }
        return named;
    }

    /** Returns the name of the requirement's member in the policy. */
    @Override
    public String toString() {
        return member;
    }
}
