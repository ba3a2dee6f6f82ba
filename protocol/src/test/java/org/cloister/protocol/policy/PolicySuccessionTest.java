package org.cloister.protocol.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PolicySuccessionTest {
    private static final Instant NOW = PolicySamples.FROM.plusSeconds(60);
    private final ProjectPolicy current = PolicySamples.first();

    private List<String> problems(ProjectPolicy next) {
        return PolicySuccession.problems(PolicySamples.PROJECT, Optional.of(current), next, NOW);
    }

    private static ProjectPolicy next(
            long serial, AssuranceLevel level, HostSharing sharing, boolean encryption, PolicyRequirement... less) {
        return PolicySamples.of(
                PolicySamples.PROJECT,
                serial,
                PolicySamples.FROM,
                level,
                sharing,
                encryption,
                Set.copyOf(List.of(less)));
    }

    @Test
    void a_higher_serial_takes_over() {
        assertThat(problems(next(8, AssuranceLevel.HOST_WORD, HostSharing.NONE, true)))
                .isEmpty();
        assertThat(problems(next(100, AssuranceLevel.HOST_WORD, HostSharing.NONE, true)))
                .isEmpty();
    }

    @Test
    void an_equal_or_lower_serial_does_not() {
        for (long serial : new long[] {1, 6, 7}) {
            assertThat(problems(next(serial, AssuranceLevel.HOST_WORD, HostSharing.NONE, true)))
                    .singleElement()
                    .asString()
                    .startsWith("serial: want more than 7, have " + serial);
        }
    }

    @Test
    void less_is_asked_for_only_by_name() {
        assertThat(problems(next(8, AssuranceLevel.HOST_WORD, HostSharing.ANY, false)))
                .singleElement()
                .asString()
                .startsWith("loosens: want [sharing, workerEncryption]")
                .contains("have []");
        assertThat(problems(next(
                        8,
                        AssuranceLevel.HOST_WORD,
                        HostSharing.ANY,
                        false,
                        PolicyRequirement.SHARING,
                        PolicyRequirement.WORKER_ENCRYPTION)))
                .isEmpty();
        assertThat(problems(next(8, AssuranceLevel.HOST_TPM, HostSharing.NONE, true, PolicyRequirement.LEVEL)))
                .singleElement()
                .asString()
                .startsWith("loosens: want []");
    }

    @Test
    void every_reason_is_said_at_once() {
        ProjectPolicy other = PolicySamples.of(
                "b".repeat(51) + "q", 7, NOW.plusSeconds(1), AssuranceLevel.HOST_WORD, HostSharing.ANY, true, Set.of());
        assertThat(problems(other))
                .extracting(text -> text.substring(0, text.indexOf(':')))
                .containsExactly("project", "validity", "serial", "loosens");
    }

    @Test
    void a_first_policy_loosens_nothing() {
        ProjectPolicy first = next(1, AssuranceLevel.HOST_WORD, HostSharing.NONE, true);
        assertThat(PolicySuccession.problems(PolicySamples.PROJECT, Optional.empty(), first, NOW))
                .isEmpty();
        ProjectPolicy loose = next(1, AssuranceLevel.HOST_WORD, HostSharing.NONE, true, PolicyRequirement.LEVEL);
        assertThat(PolicySuccession.problems(PolicySamples.PROJECT, Optional.empty(), loose, NOW))
                .hasSize(1);
    }

    @Test
    void whatever_comes_serials_rise_and_nothing_is_lost_silently() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Optional<ProjectPolicy> holds = Optional.empty();
        int taken = 0;
        for (int i = 0; i < 5_000; i++) {
            EnumSet<PolicyRequirement> loosens = EnumSet.noneOf(PolicyRequirement.class);
            for (PolicyRequirement requirement : PolicyRequirement.values()) {
                if (random.nextInt(3) == 0) {
                    loosens.add(requirement);
                }
            }
            ProjectPolicy next = PolicySamples.of(
                    PolicySamples.PROJECT,
                    taken + random.nextInt(4),
                    PolicySamples.FROM,
                    AssuranceLevel.of(random.nextInt(3)),
                    List.of(HostSharing.values()).get(random.nextInt(3)),
                    random.nextBoolean(),
                    loosens);
            if (!PolicySuccession.problems(PolicySamples.PROJECT, holds, next, NOW)
                    .isEmpty()) {
                continue;
            }
            if (holds.isPresent()) {
                ProjectPolicy before = holds.get();
                assertThat(next.serial()).as("seed %d", seed).isGreaterThan(before.serial());
                assertThat(next.loosens().contains(PolicyRequirement.LEVEL))
                        .as("seed %d", seed)
                        .isEqualTo(next.level().number() < before.level().number());
                assertThat(next.loosens().contains(PolicyRequirement.WORKER_ENCRYPTION))
                        .as("seed %d", seed)
                        .isEqualTo(before.workerEncryption() && !next.workerEncryption());
            }
            holds = Optional.of(next);
            taken++;
        }
        assertThat(taken).as("seed %d", seed).isPositive();
    }
}
