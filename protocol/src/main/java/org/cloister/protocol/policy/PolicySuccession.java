package org.cloister.protocol.policy;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Decides whether a policy that enough owners signed replaces the current one. */
public final class PolicySuccession {
    private PolicySuccession() {}

    /**
     * Returns all problems of the successor, each with its remedy; empty if it takes effect now. The current policy is
     * no successor of itself: a caller that compares hashes first need not call this.
     *
     * @param current the policy with the highest serial that was ever accepted, valid or not; empty for a new project
     * @param project to which the successor must belong
     */
    public static List<String> problems(
            String project, Optional<ProjectPolicy> current, ProjectPolicy next, Instant now) {
        List<String> problems = new ArrayList<>();
        if (!next.project().equals(project)) {
            problems.add("project: want " + project + ", have " + next.project() + "; sign one for this project");
        }
        if (!next.isValid(now)) {
            problems.add("validity: want a policy that holds at " + now + ", have " + next.from() + " to "
                    + next.until() + "; look at both clocks, or sign another");
        }
        current.ifPresent(before -> compare(before, next, problems));
        if (current.isEmpty() && !next.loosens().isEmpty()) {
            problems.add("loosens: want nothing in a first policy, have " + sorted(next.loosens()) + "; leave it out");
        }
        return List.copyOf(problems);
    }

    /**
     * Returns a policy as it succeeds the current one: with the next serial, and with all that it asks less of by name.
     *
     * @param current the policy with the highest serial; empty for a new project
     * @param next its serial and {@code loosens} are replaced
     */
    public static ProjectPolicy succeeding(Optional<ProjectPolicy> current, ProjectPolicy next) {
        return new ProjectPolicy(
                next.project(),
                current.map(ProjectPolicy::serial).orElse(0L) + 1,
                next.from(),
                next.until(),
                next.level(),
                next.hosts(),
                next.images(),
                next.controllerLimit(),
                next.workerLimit(),
                next.sharing(),
                next.workerEncryption(),
                next.releases(),
                current.map(before -> PolicyRequirement.lessened(before, next)).orElse(Set.of()));
    }

    private static void compare(ProjectPolicy before, ProjectPolicy next, List<String> problems) {
        if (next.serial() <= before.serial()) {
            problems.add("serial: want more than " + before.serial() + ", have " + next.serial()
                    + "; sign it with the next serial");
        }
        Set<PolicyRequirement> less = PolicyRequirement.lessened(before, next);
        if (!less.equals(next.loosens())) {
            problems.add("loosens: want " + sorted(less) + ", which is where it asks for less than policy "
                    + before.serial() + ", have " + sorted(next.loosens())
                    + "; have the owners sign what they give up by name");
        }
    }

    private static List<PolicyRequirement> sorted(Set<PolicyRequirement> requirements) {
        return requirements.stream().sorted().toList();
    }
}
