package org.cloister.host.health;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import org.cloister.host.control.VmRunPhase;
import org.cloister.host.control.VmRunResult;
import org.cloister.host.reconcile.ReconcilePass;
import org.cloister.host.vm.VmRunCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class NodeHealthTest {
    private static final long START = 1_000_000_000_000L;
    private static final long SECOND = 1000;
    private static final long CLEAN = 300 * SECOND;
    private static final NodeHealth.Delays TIMES =
            new NodeHealth.Delays(Duration.ofSeconds(60), Duration.ofSeconds(300), Duration.ofHours(1));
    private static final SlurmNodeState IDLE = state("idle", "none");
    private static final NodeDecision NO_CHANGE = new NodeDecision.NoChange();

    private final NodeHealth health = new NodeHealth(TIMES);

    private static SlurmNodeState state(String flags, String reason) {
        return new SlurmNodeState(new HashSet<>(Arrays.asList(flags.split("\\+", -1))), reason);
    }

    private static VmRunResult ending(VmRunCode code) {
        return new VmRunResult(code, VmRunPhase.SCRATCH, "no space left", "free some");
    }

    private static ReconcilePass.Outcome outcome(List<String> unheard, String... troubles) {
        return new ReconcilePass.Outcome(
                List.of(), Set.of(), unheard, List.of(troubles), List.of(), 1, OptionalLong.empty());
    }

    private static ReconcilePass.Outcome clean() {
        return outcome(List.of());
    }

    private NodeDecision decide(SlurmNodeState seen, long nowMs) {
        return health.decide(seen, List.of(), nowMs);
    }

    private DrainReason drained(SlurmNodeState seen, long nowMs) {
        assertThat(health.needsCheck(nowMs)).isTrue();
        NodeDecision decision = decide(seen, nowMs);
        assertThat(decision).isInstanceOf(NodeDecision.Drain.class);
        return ((NodeDecision.Drain) decision).reason();
    }

    /** As Slurm has it then, and the node has been seen so. */
    private SlurmNodeState seen(DrainReason reason, long nowMs) {
        SlurmNodeState ours = state("idle+drain", reason.toString());
        assertThat(decide(ours, nowMs)).isEqualTo(NO_CHANGE);
        return ours;
    }

    /** A fault at the start, and resumed by us. @return when */
    private long drainedAndResumed() {
        health.onPass(clean(), START);
        health.onVmEnded(ending(VmRunCode.HOST), START);
        SlurmNodeState ours = seen(drained(IDLE, START), START);
        health.onPass(clean(), START + CLEAN);
        assertThat(decide(ours, START + CLEAN)).isInstanceOf(NodeDecision.Resume.class);
        health.onResumed(START + CLEAN);
        assertThat(decide(IDLE, START + CLEAN)).isEqualTo(NO_CHANGE);
        return START + CLEAN;
    }

    @Test
    void a_fault_of_the_host_drains_it_and_says_why() {
        health.onVmEnded(ending(VmRunCode.HOST), START);
        assertThat(drained(IDLE, START).text()).isEqualTo("scratch failed: no space left; free some");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "HOST")
    void no_other_end_of_a_vm_does(VmRunCode code) {
        health.onVmEnded(ending(code), START);
        assertThat(decide(IDLE, START)).isEqualTo(NO_CHANGE);
        assertThat(health.needsCheck(START)).isFalse();
    }

    @Test
    void slurm_is_asked_once_after_the_start_and_then_only_if_there_is_something_to_do() {
        assertThat(health.needsCheck(START)).isTrue();
        assertThat(decide(IDLE, START)).isEqualTo(NO_CHANGE);
        health.onPass(clean(), START);
        health.onPass(outcome(List.of(), "libvirt: no answer"), START + SECOND);
        assertThat(health.needsCheck(START + 60 * SECOND)).isFalse();
        assertThat(health.needsCheck(START + 61 * SECOND)).isTrue();
    }

    @Test
    void who_cannot_clean_up_for_a_minute_takes_no_more_work() {
        health.onPass(outcome(List.of(), "VM 1: tap stays"), START);
        health.onPass(outcome(List.of(), "VM 1: tap stays"), START + 59 * SECOND);
        assertThat(decide(IDLE, START + 59 * SECOND)).isEqualTo(NO_CHANGE);
        assertThat(drained(IDLE, START + 60 * SECOND).text()).isEqualTo("cannot clean up: VM 1: tap stays");
    }

    @Test
    void trouble_that_passes_does_not_count() {
        health.onPass(outcome(List.of(), "libvirt: no answer"), START);
        health.onPass(clean(), START + 40 * SECOND);
        health.onPass(outcome(List.of(), "libvirt: no answer"), START + 50 * SECOND);
        assertThat(decide(IDLE, START + 109 * SECOND)).isEqualTo(NO_CHANGE);
        assertThat(decide(IDLE, START + 110 * SECOND)).isInstanceOf(NodeDecision.Drain.class);
    }

    @Test
    void before_every_source_has_answered_once_nothing_is_trouble() {
        health.onPass(outcome(List.of("DOMAIN"), "libvirt: no answer"), START);
        assertThat(decide(IDLE, START + 900 * SECOND)).isEqualTo(NO_CHANGE);
    }

    @Test
    void it_is_resumed_when_all_was_clean_for_long_enough_and_nothing_else_is_wrong() {
        health.onVmEnded(ending(VmRunCode.HOST), START);
        DrainReason reason = drained(IDLE, START);
        SlurmNodeState ours = seen(reason, START);
        health.onPass(clean(), START + SECOND);
        assertThat(decide(ours, START + CLEAN)).isEqualTo(NO_CHANGE);
        long then = START + SECOND + CLEAN;
        assertThat(health.decide(ours, List.of("image: none"), then)).isEqualTo(NO_CHANGE);
        assertThat(decide(state("down+drain", reason.toString()), then)).isEqualTo(NO_CHANGE);
        assertThat(decide(ours, then)).isEqualTo(new NodeDecision.Resume(reason));
    }

    @Test
    void trouble_or_another_fault_meanwhile_begins_the_time_anew() {
        health.onVmEnded(ending(VmRunCode.HOST), START);
        SlurmNodeState ours = seen(drained(IDLE, START), START);
        health.onPass(clean(), START);
        health.onVmEnded(ending(VmRunCode.HOST), START + 100 * SECOND);
        health.onPass(outcome(List.of(), "bridge: no answer"), START + 150 * SECOND);
        health.onPass(clean(), START + 200 * SECOND);
        assertThat(decide(ours, START + 200 * SECOND + CLEAN - 1)).isEqualTo(NO_CHANGE);
        assertThat(decide(ours, START + 200 * SECOND + CLEAN)).isInstanceOf(NodeDecision.Resume.class);
    }

    @Test
    void what_the_process_before_has_drained_is_resumed() {
        DrainReason reason = DrainReason.of("domain failed", START - SECOND, false);
        health.onPass(clean(), START);
        SlurmNodeState ours = seen(reason, START + CLEAN - 1);
        assertThat(decide(ours, START + CLEAN)).isEqualTo(new NodeDecision.Resume(reason));
    }

    @ParameterizedTest
    @ValueSource(strings = {"idle+drain", "mixed+drain", "down", "down+drain", "fail"})
    void what_somebody_else_took_out_is_left_alone(String flags) {
        health.onPass(clean(), START);
        health.onVmEnded(ending(VmRunCode.HOST), START);
        String changed = DrainReason.of("scratch failed", START, false) + ", ann looks at it";
        for (String reason : List.of("disk swap", "cloister: mine", "none", "", changed)) {
            assertThat(decide(state(flags, reason), START + SECOND)).isEqualTo(NO_CHANGE);
            assertThat(decide(state(flags, reason), START + 2 * CLEAN)).isEqualTo(NO_CHANGE);
        }
    }

    @Test
    void a_fault_that_still_counts_when_an_administrator_ends_his_own_work_drains() {
        health.onVmEnded(ending(VmRunCode.HOST), START);
        assertThat(decide(state("idle+drain", "disk swap"), START)).isEqualTo(NO_CHANGE);
        assertThat(decide(IDLE, START + SECOND)).isInstanceOf(NodeDecision.Drain.class);
    }

    @Test
    void a_second_fault_within_an_hour_waits_for_an_administrator() {
        long resumed = drainedAndResumed();
        health.onVmEnded(ending(VmRunCode.HOST), resumed + 3599 * SECOND);
        DrainReason reason = drained(IDLE, resumed + 3599 * SECOND);
        assertThat(reason.manualResume()).isTrue();
        SlurmNodeState ours = seen(reason, resumed + 3599 * SECOND);
        assertThat(decide(ours, resumed + 99_999 * SECOND)).isEqualTo(NO_CHANGE);
        NodeHealth next = new NodeHealth(TIMES);
        next.onPass(clean(), resumed + 3600 * SECOND);
        assertThat(next.decide(ours, List.of(), resumed + 99_999 * SECOND)).isEqualTo(NO_CHANGE);
    }

    @Test
    void a_fault_after_more_than_an_hour_is_a_first_one() {
        long resumed = drainedAndResumed();
        health.onVmEnded(ending(VmRunCode.HOST), resumed + 3600 * SECOND);
        assertThat(drained(IDLE, resumed + 3600 * SECOND).manualResume()).isFalse();
    }

    /** As in 24.11, which would keep it for some drains of its own. */
    @Test
    void a_reason_of_ours_does_not_stay_on_a_node_in_service() {
        health.onPass(clean(), START);
        health.onVmEnded(ending(VmRunCode.HOST), START);
        DrainReason reason = drained(IDLE, START);
        SlurmNodeState ours = seen(reason, START);
        SlurmNodeState kept = state("idle", reason.toString());
        assertThat(decide(ours, START + CLEAN)).isEqualTo(new NodeDecision.Resume(reason));
        health.onResumed(START + CLEAN);
        assertThat(health.needsCheck(START + CLEAN)).isTrue();
        assertThat(decide(kept, START + CLEAN)).isEqualTo(new NodeDecision.ReplaceReason(reason));
        SlurmNodeState replaced = state("idle", DrainReason.REPLACEMENT);
        assertThat(decide(replaced, START + CLEAN)).isEqualTo(NO_CHANGE);
        assertThat(decide(state("idle+drain", replaced.reason()), START + 9 * CLEAN))
                .isEqualTo(NO_CHANGE);
    }

    @Test
    void a_reason_of_ours_on_a_node_that_must_be_drained_is_replaced_by_the_drain() {
        health.onPass(clean(), START);
        health.onVmEnded(ending(VmRunCode.HOST), START);
        DrainReason old = DrainReason.of("old", START - 99 * SECOND, false);
        assertThat(decide(state("idle", old.toString()), START)).isInstanceOf(NodeDecision.Drain.class);
    }

    @Test
    void who_resumes_by_hand_has_seen_to_it() {
        long resumed = drainedAndResumed();
        long nowMs = resumed + 10 * SECOND;
        health.onVmEnded(ending(VmRunCode.HOST), nowMs);
        seen(drained(IDLE, nowMs), nowMs);
        assertThat(decide(IDLE, nowMs + SECOND)).isEqualTo(NO_CHANGE);
        assertThat(health.needsCheck(nowMs + SECOND)).isFalse();
        health.onVmEnded(ending(VmRunCode.HOST), nowMs + 2 * SECOND);
        assertThat(drained(IDLE, nowMs + 2 * SECOND).manualResume()).isFalse();
    }

    @Test
    void who_resumes_by_hand_before_the_node_was_seen_as_ours_has_seen_to_it_too() {
        health.onVmEnded(ending(VmRunCode.HOST), START);
        drained(IDLE, START);
        health.onDrained();
        assertThat(decide(IDLE, START + SECOND)).isEqualTo(NO_CHANGE);
        assertThat(decide(IDLE, START + 2 * SECOND)).isEqualTo(NO_CHANGE);
    }

    @Test
    void trouble_that_stays_when_an_administrator_resumes_is_given_its_time_anew() {
        health.onPass(outcome(List.of(), "VM 1: tap stays"), START);
        long drained = START + 60 * SECOND;
        seen(drained(IDLE, drained), drained);
        long byHand = drained + 10 * SECOND;
        assertThat(decide(IDLE, byHand)).isEqualTo(NO_CHANGE);
        health.onPass(outcome(List.of(), "VM 1: tap stays"), byHand + 59 * SECOND);
        assertThat(decide(IDLE, byHand + 59 * SECOND)).isEqualTo(NO_CHANGE);
        assertThat(decide(IDLE, byHand + 60 * SECOND)).isInstanceOf(NodeDecision.Drain.class);
    }
}
