package org.cloister.protocol.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SuccessionTest {
    private static final Instant NOW = Policies.FROM.plusSeconds(60);
    private final Policy current = Policies.first();

    private List<String> problems(Policy next) {
        return Succession.problems(Policies.PROJECT, Optional.of(current), next, NOW);
    }

    private static Policy next(long serial, AssuranceLevel level, Sharing sharing, boolean encryption, Demand... less) {
        return Policies.of(
                Policies.PROJECT, serial, Policies.FROM, level, sharing, encryption, Set.copyOf(List.of(less)));
    }

    @Test
    void a_higher_serial_takes_over() {
        assertThat(problems(next(8, AssuranceLevel.HOST_WORD, Sharing.NONE, true)))
                .isEmpty();
        assertThat(problems(next(100, AssuranceLevel.HOST_WORD, Sharing.NONE, true)))
                .isEmpty();
    }

    @Test
    void an_equal_or_lower_serial_does_not() {
        for (long serial : new long[] {1, 6, 7}) {
            assertThat(problems(next(serial, AssuranceLevel.HOST_WORD, Sharing.NONE, true)))
                    .singleElement()
                    .asString()
                    .startsWith("serial: want more than 7, have " + serial);
        }
    }

    @Test
    void less_is_asked_for_only_by_name() {
        assertThat(problems(next(8, AssuranceLevel.HOST_WORD, Sharing.ANY, false)))
                .singleElement()
                .asString()
                .startsWith("loosens: want [sharing, workerEncryption]")
                .contains("have []");
        assertThat(problems(next(
                        8, AssuranceLevel.HOST_WORD, Sharing.ANY, false, Demand.SHARING, Demand.WORKER_ENCRYPTION)))
                .isEmpty();
        assertThat(problems(next(8, AssuranceLevel.HOST_TPM, Sharing.NONE, true, Demand.LEVEL)))
                .singleElement()
                .asString()
                .startsWith("loosens: want []");
    }

    @Test
    void every_reason_is_said_at_once() {
        Policy other = Policies.of(
                "b".repeat(51) + "q", 7, NOW.plusSeconds(1), AssuranceLevel.HOST_WORD, Sharing.ANY, true, Set.of());
        assertThat(problems(other))
                .extracting(text -> text.substring(0, text.indexOf(':')))
                .containsExactly("project", "validity", "serial", "loosens");
    }

    @Test
    void a_first_policy_loosens_nothing() {
        Policy first = next(1, AssuranceLevel.HOST_WORD, Sharing.NONE, true);
        assertThat(Succession.problems(Policies.PROJECT, Optional.empty(), first, NOW))
                .isEmpty();
        Policy loose = next(1, AssuranceLevel.HOST_WORD, Sharing.NONE, true, Demand.LEVEL);
        assertThat(Succession.problems(Policies.PROJECT, Optional.empty(), loose, NOW))
                .hasSize(1);
    }

    @Test
    void whatever_comes_serials_rise_and_nothing_is_lost_silently() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Optional<Policy> holds = Optional.empty();
        int taken = 0;
        for (int i = 0; i < 5_000; i++) {
            EnumSet<Demand> loosens = EnumSet.noneOf(Demand.class);
            for (Demand demand : Demand.values()) {
                if (random.nextInt(3) == 0) {
                    loosens.add(demand);
                }
            }
            Policy next = Policies.of(
                    Policies.PROJECT,
                    taken + random.nextInt(4),
                    Policies.FROM,
                    AssuranceLevel.of(random.nextInt(3)),
                    List.of(Sharing.values()).get(random.nextInt(3)),
                    random.nextBoolean(),
                    loosens);
            if (!Succession.problems(Policies.PROJECT, holds, next, NOW).isEmpty()) {
                continue;
            }
            if (holds.isPresent()) {
                Policy before = holds.get();
                assertThat(next.serial()).as("seed %d", seed).isGreaterThan(before.serial());
                assertThat(next.loosens().contains(Demand.LEVEL))
                        .as("seed %d", seed)
                        .isEqualTo(next.level().number() < before.level().number());
                assertThat(next.loosens().contains(Demand.WORKER_ENCRYPTION))
                        .as("seed %d", seed)
                        .isEqualTo(before.workerEncryption() && !next.workerEncryption());
            }
            holds = Optional.of(next);
            taken++;
        }
        assertThat(taken).as("seed %d", seed).isPositive();
    }
}
