package org.cloister.protocol.policy;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Whether a policy that enough owners signed takes the place of the one that holds. */
public final class PolicySuccession {
    private PolicySuccession() {}

    /**
     * Everything that speaks against it, each with remedy; nothing if it takes over now. The same policy again is no
     * successor: who compares hashes first need not ask.
     *
     * @param current the policy with the highest serial that was ever accepted, valid or not; none for a new project
     * @param project whose successor it is to be
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

    private static List<PolicyRequirement> sorted(Set<PolicyRequirement> demands) {
        return demands.stream().sorted().toList();
    }
}
