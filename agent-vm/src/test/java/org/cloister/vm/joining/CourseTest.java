package org.cloister.vm.joining;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.evidence.EvidenceMessage.Why;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A worker's course from its assignment to its end, with every failure on the way. Time is the test's. */
class CourseTest {
    private static final Nonce NONCE = Heard.NONCE;
    private static final Duration LEASE = Duration.ofMinutes(10);
    private static final Duration RENEWAL = Duration.ofHours(12);
    private static final VmMessage.Resume RESUME = Heard.RESUME;

    private final ByteString statement = Heard.STATEMENT;
    private final HandOver handOver = Heard.HAND_OVER;
    private final List<Act> acts = new ArrayList<>();
    private long now = 1_000_000_000L;
    private final Course course = Course.assigned(Duration.ofSeconds(4), now);

    private List<Act> on(Event event) {
        List<Act> now = course.on(event, this.now);
        acts.addAll(now);
        return now;
    }

    private List<Act> after(Duration time) {
        now += time.toNanos();
        return on(new Event.Woke());
    }

    private static Act say(VmMessage message) {
        return new Act.Say(message);
    }

    private List<VmMessage> said() {
        return acts.stream()
                .filter(Act.Say.class::isInstance)
                .map(act -> ((Act.Say) act).message())
                .toList();
    }

    private void question() {
        assertThat(on(new Event.Attached())).containsExactly(new Act.Call(false));
        assertThat(on(new Event.Opened(Heard.FRESH))).isEmpty();
        assertThat(on(new Event.Heard(new VerifierMessage.Question(NONCE)))).containsExactly(new Act.AskHost(NONCE));
    }

    private Event.Vouched vouched() {
        return Heard.vouched();
    }

    private void shown() {
        question();
        now += Duration.ofSeconds(2).toNanos();
        assertThat(on(vouched())).containsExactly(say(new VmMessage.Shown(statement, Instant.EPOCH)));
    }

    private void given() {
        shown();
        assertThat(on(new Event.Heard(handOver))).containsExactly(new Act.Take(handOver, NONCE));
    }

    private void taken() {
        given();
        now += Duration.ofSeconds(1).toNanos();
        assertThat(on(new Event.Taken(LEASE, RENEWAL, Heard.PLACE)))
                .containsExactly(
                        say(new VmMessage.Passed(BootPhase.BOOT, Duration.ofSeconds(4))),
                        say(new VmMessage.Passed(BootPhase.EVIDENCE, Duration.ofSeconds(2))),
                        say(new VmMessage.Passed(BootPhase.KEYS, Duration.ofSeconds(1))),
                        new Act.Do(Step.MEMORY));
    }

    private void upTo(Step last) {
        taken();
        for (Step step : Step.values()) {
            if (step == last) {
                return;
            }
            on(new Event.Did(step));
        }
    }

    private void ready() {
        upTo(Step.SLURMD);
        now += Duration.ofSeconds(3).toNanos();
        assertThat(on(new Event.Did(Step.SLURMD)))
                .containsExactly(
                        say(new VmMessage.Passed(BootPhase.REGISTRATION, Duration.ofSeconds(3))),
                        say(new VmMessage.Ready()));
    }

    /** Answers what is to be undone and signed, and the end of the circuit, until nothing is left. */
    private List<Step> leaves() {
        List<Step> undone = new ArrayList<>();
        List<Act> next = new ArrayList<>(acts.subList(acts.size() - 1, acts.size()));
        while (!next.isEmpty()) {
            List<Act> more = new ArrayList<>();
            for (Act act : next) {
                if (act instanceof Act.Undo undo) {
                    undone.add(undo.step());
                    more.addAll(on(new Event.Undid(undo.step())));
                } else if (act instanceof Act.Sign) {
                    more.addAll(on(new Event.Signed(Optional.of(statement))));
                } else if (act instanceof Act.HangUp) {
                    more.addAll(on(new Event.Closed()));
                }
            }
            next = more;
        }
        return undone;
    }

    private static List<Step> backFrom(Step last) {
        List<Step> steps = new ArrayList<>();
        for (Step step : Step.values()) {
            if (step.compareTo(last) <= 0) {
                steps.add(0, step);
            }
        }
        return steps;
    }

    @Test
    void a_worker_joins_serves_and_leaves_when_it_is_released() {
        ready();
        assertThat(said()).contains(new VmMessage.Passed(BootPhase.TUNNEL, Duration.ZERO));
        assertThat(on(new Event.Heard(new VerifierMessage.Release())))
                .containsExactly(new Act.Leave("released", false), new Act.Undo(Step.SLURMD, false));
        assertThat(leaves()).isEqualTo(backFrom(Step.SLURMD));
        assertThat(acts).endsWith(new Act.Undo(Step.MEMORY, false), new Act.End(true, "released"));
        List<VmMessage> said = said();
        assertThat(said.get(said.size() - 1)).isEqualTo(new VmMessage.Part(statement));
        assertThat(said.get(said.size() - 2)).isEqualTo(new VmMessage.Passed(BootPhase.TEARDOWN, Duration.ZERO));
        // The last words come when the job's part is gone, and before the way is.
        assertThat(acts.indexOf(say(new VmMessage.Part(statement))))
                .isGreaterThan(acts.indexOf(new Act.Undo(Step.SCRATCH, false)))
                .isLessThan(acts.indexOf(new Act.Undo(Step.TUNNEL, false)));
        assertThat(on(new Event.Stop())).isEmpty();
        assertThat(course.wakeNs()).isEqualTo(Long.MAX_VALUE);
    }

    @ParameterizedTest
    @EnumSource(Step.class)
    void a_step_that_fails_is_said_and_all_is_taken_back(Step step) {
        upTo(step);
        assertThat(on(new Event.Failed(step)))
                .contains(say(new VmMessage.Trouble(step.phase(), step.code())), new Act.Leave(step.code(), true));
        assertThat(leaves()).isEqualTo(backFrom(step));
        assertThat(said()).endsWith(new VmMessage.Part(statement)).doesNotContain(new VmMessage.Ready());
        assertThat(acts).endsWith(new Act.End(true, step.code()));
    }

    @ParameterizedTest
    @EnumSource(Step.class)
    void who_is_released_in_the_middle_of_a_step_waits_for_its_end(Step step) {
        upTo(step);
        assertThat(on(new Event.Heard(new VerifierMessage.Release())))
                .containsExactly(new Act.Leave("released", false));
        assertThat(on(new Event.Did(step))).hasSize(1);
        assertThat(leaves()).isEqualTo(backFrom(step));
        assertThat(acts).endsWith(new Act.End(true, "released"));
    }

    @Test
    void a_hand_over_that_is_not_taken_is_said_and_there_is_no_part() {
        given();
        assertThat(on(new Event.NotTaken(BootPhase.KEYS, "nonce")))
                .containsExactly(
                        say(new VmMessage.Trouble(BootPhase.KEYS, "nonce")),
                        new Act.Leave("nonce", true),
                        new Act.HangUp());
        assertThat(on(new Event.Closed())).containsExactly(new Act.End(true, "nonce"));
    }

    private void isNotTaken() {
        long wake = course.wakeNs();
        assertThat(on(new Event.Heard(handOver))).isEmpty();
        assertThat(course.wakeNs()).isEqualTo(wake);
    }

    @Test
    void a_hand_over_that_nobody_has_asked_for_is_not_taken() {
        shown();
        on(new Event.Closed());
        after(Duration.ofSeconds(1));
        on(new Event.Opened(Heard.FRESH));
        isNotTaken();
        assertThat(on(new Event.Heard(new VerifierMessage.Question(NONCE)))).containsExactly(new Act.AskHost(NONCE));
    }

    @Test
    void a_hand_over_that_comes_again_is_not_taken_and_the_worker_goes_on() {
        given();
        isNotTaken();
        on(new Event.Taken(LEASE, RENEWAL, Heard.PLACE));
        for (Step step : Step.values()) {
            isNotTaken();
            on(new Event.Did(step));
        }
        assertThat(acts).endsWith(say(new VmMessage.Ready()));
        isNotTaken();
        on(new Event.Heard(new VerifierMessage.Release()));
        isNotTaken();
        assertThat(leaves()).isEqualTo(backFrom(Step.SLURMD));
        isNotTaken();
        assertThat(acts)
                .endsWith(new Act.End(true, "released"))
                .filteredOn(Act.Take.class::isInstance)
                .hasSize(1);
    }

    @Test
    void who_is_denied_goes_off_and_says_nothing() {
        shown();
        assertThat(on(new Event.Heard(new VerifierMessage.Denied(List.of("image"), "see the log"))))
                .containsExactly(new Act.Leave("denied", true), new Act.HangUp());
        assertThat(on(new Event.Closed())).containsExactly(new Act.End(true, "denied"));
    }

    @Test
    void a_host_that_vouched_for_another_is_the_end() {
        question();
        assertThat(on(new Event.NotVouched(NONCE, Optional.of(Why.ANOTHER))))
                .containsExactly(
                        say(new VmMessage.NoStatement(Why.ANOTHER)),
                        new Act.Leave("no-statement", true),
                        new Act.HangUp());
        assertThat(on(new Event.Closed())).containsExactly(new Act.End(true, "no-statement"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"BUSY", "FAILED", ""})
    void a_host_that_cannot_vouch_now_is_asked_again_and_then_on_another_circuit(String why) {
        question();
        Optional<Why> word = why.isEmpty() ? Optional.empty() : Optional.of(Why.valueOf(why));
        assertThat(on(new Event.NotVouched(NONCE, word))).isEmpty();
        assertThat(after(Duration.ofMillis(999))).isEmpty();
        assertThat(after(Duration.ofMillis(1))).containsExactly(new Act.AskHost(NONCE));
        on(new Event.NotVouched(NONCE, word));
        acts.clear();
        now += Vouching.LIMIT.toNanos();
        assertThat(on(new Event.Woke())).contains(say(new VmMessage.NoStatement(Why.FAILED)), new Act.HangUp());
        on(new Event.Closed());
        assertThat(after(Duration.ofSeconds(1))).containsExactly(new Act.Call(false));
    }

    @Test
    void a_circuit_that_breaks_before_the_hand_over_is_begun_anew_at_a_pace() {
        shown();
        on(new Event.Closed());
        Duration pause = Duration.ofSeconds(1);
        for (int i = 0; i < 8; i++) {
            assertThat(course.wakeNs()).isEqualTo(now + pause.toNanos());
            assertThat(after(pause.minusNanos(1))).isEmpty();
            assertThat(after(Duration.ofNanos(1))).containsExactly(new Act.Call(false));
            assertThat(on(new Event.Closed())).isEmpty();
            pause = pause.multipliedBy(2).compareTo(Duration.ofSeconds(30)) > 0
                    ? Duration.ofSeconds(30)
                    : pause.multipliedBy(2);
        }
        after(pause);
        on(new Event.Opened(Heard.FRESH));
        // What was asked on the circuit before is nobody's answer any more.
        assertThat(on(vouched())).isEmpty();
        assertThat(on(new Event.Heard(new VerifierMessage.Question(NONCE)))).containsExactly(new Act.AskHost(NONCE));
        assertThat(on(vouched())).hasSize(1);
    }

    @Test
    void nobody_is_called_without_a_channel() {
        assertThat(on(new Event.Woke())).isEmpty();
        on(new Event.Attached());
        on(new Event.Closed());
        on(new Event.Detached());
        assertThat(after(Duration.ofMinutes(1))).isEmpty();
        assertThat(on(new Event.Attached())).containsExactly(new Act.Call(false));
    }

    @Test
    void a_controlling_vm_that_never_hands_over_is_given_up() {
        question();
        now += Course.PATIENCE.toNanos();
        assertThat(on(new Event.Woke())).contains(new Act.Leave("no-hand-over", true), new Act.HangUp());
        assertThat(on(new Event.Closed())).containsExactly(new Act.End(true, "no-hand-over"));
    }

    @Test
    void beats_are_a_sixth_of_the_lease_apart_and_at_most_what_the_relay_allows() {
        ready();
        assertThat(course.leaseNs() - now).isLessThanOrEqualTo(LEASE.toNanos());
        now = course.wakeNs();
        assertThat(on(new Event.Woke())).containsExactly(say(new VmMessage.Beat()));
        assertThat(course.wakeNs() - now).isEqualTo(Lease.LONGEST_BEAT.toNanos());
        Course brief = Course.assigned(Duration.ZERO, 0);
        brief.on(new Event.Attached(), 0);
        brief.on(new Event.Opened(Heard.FRESH), 0);
        brief.on(new Event.Heard(new VerifierMessage.Question(NONCE)), 0);
        brief.on(vouched(), 0);
        brief.on(new Event.Heard(handOver), 0);
        brief.on(new Event.Taken(Duration.ofMinutes(1), RENEWAL, Heard.PLACE), 0);
        assertThat(brief.wakeNs()).isEqualTo(Duration.ofSeconds(10).toNanos());
    }

    @Test
    void a_lease_begins_anew_with_what_is_heard_and_ends_the_vm_when_it_is_over() {
        ready();
        now += LEASE.toNanos() / 2;
        on(new Event.Heard(new VerifierMessage.Beat()));
        assertThat(course.leaseNs()).isEqualTo(now + LEASE.toNanos());
        now += LEASE.toNanos() - 1;
        assertThat(on(new Event.Woke())).noneMatch(Act.Leave.class::isInstance);
        now++;
        assertThat(on(new Event.Woke())).startsWith(new Act.Leave("lease", true), new Act.Undo(Step.SLURMD, true));
        assertThat(leaves()).isEqualTo(backFrom(Step.SLURMD));
        assertThat(acts).endsWith(new Act.End(true, "lease"));
    }

    @Test
    void a_circuit_that_breaks_later_is_opened_with_the_certificate_and_what_was_not_said_is_said_then() {
        upTo(Step.SLURMD);
        on(new Event.Closed());
        assertThat(on(new Event.Did(Step.SLURMD))).isEmpty();
        assertThat(after(Duration.ofSeconds(1))).containsExactly(new Act.Call(true));
        assertThat(on(new Event.Opened(Heard.FRESH)))
                .containsExactly(
                        say(RESUME),
                        say(new VmMessage.Passed(BootPhase.REGISTRATION, Duration.ZERO)),
                        say(new VmMessage.Ready()),
                        say(new VmMessage.Beat()));
        on(new Event.Closed());
        after(Duration.ofSeconds(2));
        assertThat(on(new Event.Opened(Heard.FRESH)))
                .as("ready may have been on its way when the circuit broke")
                .containsExactly(say(RESUME), say(new VmMessage.Ready()), say(new VmMessage.Beat()));
    }

    @Test
    void the_part_waits_for_a_circuit_and_not_for_ever() {
        ready();
        on(new Event.Closed());
        on(new Event.Stop());
        for (Step step : backFrom(Step.SLURMD).subList(0, 7)) {
            on(new Event.Undid(step));
        }
        assertThat(acts).endsWith(new Act.Sign());
        assertThat(on(new Event.Signed(Optional.of(statement)))).isEmpty();
        assertThat(after(Duration.ofSeconds(1))).containsExactly(new Act.Call(true));
        assertThat(on(new Event.Opened(Heard.FRESH)))
                .containsExactly(
                        say(RESUME),
                        say(new VmMessage.Passed(BootPhase.TEARDOWN, Duration.ZERO)),
                        say(new VmMessage.Part(statement)),
                        new Act.HangUp());
        now = course.wakeNs();
        assertThat(on(new Event.Woke())).containsExactly(new Act.Undo(Step.TUNNEL, false));
    }

    @Test
    void a_part_that_cannot_be_delivered_keeps_no_vm() {
        ready();
        on(new Event.Detached());
        on(new Event.Closed());
        on(new Event.Stop());
        assertThat(leaves()).isEqualTo(backFrom(Step.SLURMD).subList(0, 7));
        now = course.wakeNs();
        assertThat(on(new Event.Woke())).containsExactly(new Act.Undo(Step.TUNNEL, false));
        assertThat(leaves()).isEqualTo(backFrom(Step.TUNNEL));
        assertThat(acts).endsWith(new Act.End(true, "stopped"));
    }

    @Test
    void who_is_stopped_before_the_host_was_asked_leaves_the_vm_to_the_next_agent() {
        on(new Event.Attached());
        assertThat(on(new Event.Stop()))
                .containsExactly(new Act.Leave("stopped", false), new Act.End(false, "stopped"));
    }

    @Test
    void who_is_stopped_after_it_was_asked_takes_the_vm_with_it() {
        question();
        on(new Event.Closed());
        assertThat(on(new Event.Stop())).endsWith(new Act.End(true, "stopped"));
    }
}
