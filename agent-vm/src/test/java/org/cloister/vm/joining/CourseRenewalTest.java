package org.cloister.vm.joining;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.junit.jupiter.api.Test;

/** What a worker's course does with what it is given anew, and when it comes for it. Time is the test's. */
class CourseRenewalTest {
    private static final Duration LEASE = Duration.ofHours(8);
    private static final Duration RENEWAL = Duration.ofHours(12);
    private static final Event ANEW = new Event.Heard(Heard.READMISSION);
    private static final Event DONE = new Event.Readmitted(Heard.FRESH, LEASE, RENEWAL);
    private static final Act.Say SAID = new Act.Say(new VmMessage.Readmitted(Heard.FRESH));

    private long now = 1_000_000_000L;
    private final Course course = Course.assigned(Duration.ofSeconds(4), now);

    private List<Act> on(Event event) {
        return course.on(event, now);
    }

    private List<Act> after(Duration time) {
        now += time.toNanos();
        return on(new Event.Woke());
    }

    private void given() {
        on(new Event.Attached());
        on(new Event.Opened(Nonce.random(new SecureRandom())));
        on(new Event.Heard(new VerifierMessage.Question(Heard.NONCE)));
        on(Heard.vouched());
        on(new Event.Heard(Heard.HAND_OVER));
        on(new Event.Taken(LEASE, RENEWAL, Heard.PLACE));
    }

    private void serving() {
        given();
        for (Step step : Step.values()) {
            on(new Event.Did(step));
        }
    }

    private void resumed() {
        on(new Event.Closed());
        assertThat(after(Duration.ofMinutes(1))).containsExactly(new Act.Call(true));
        assertThat(on(new Event.Opened(Heard.FRESH))).contains(new Act.Say(Heard.RESUME));
    }

    @Test
    void it_takes_what_comes_and_says_so_and_its_lease_begins_anew() {
        serving();
        resumed();
        assertThat(on(ANEW)).containsExactly(new Act.Readmit(Heard.READMISSION, Heard.FRESH));
        now += Duration.ofMinutes(2).toNanos();
        assertThat(on(DONE)).startsWith(SAID);
        assertThat(course.leaseNs() - now).isEqualTo(LEASE.toNanos());
    }

    @Test
    void while_it_joins_it_takes_it_between_two_steps() {
        given();
        resumed();
        assertThat(on(ANEW)).isEmpty();
        assertThat(on(new Event.Did(Step.MEMORY))).containsExactly(new Act.Readmit(Heard.READMISSION, Heard.FRESH));
        assertThat(on(DONE)).containsExactly(SAID, new Act.Do(Step.CLOCK));
    }

    @Test
    void what_came_on_a_circuit_goes_with_it() {
        given();
        resumed();
        on(ANEW);
        on(new Event.Closed());
        assertThat(on(new Event.Did(Step.MEMORY))).containsExactly(new Act.Do(Step.CLOCK));
    }

    @Test
    void that_it_is_done_is_said_on_its_own_circuit_alone() {
        serving();
        resumed();
        on(ANEW);
        on(new Event.Closed());
        after(Duration.ofMinutes(1));
        on(new Event.Opened(Heard.NONCE));
        assertThat(on(DONE)).doesNotContain(SAID).isEmpty();
        assertThat(on(ANEW))
                .as("the next one brings its own")
                .containsExactly(new Act.Readmit(Heard.READMISSION, Heard.NONCE));
    }

    @Test
    void what_it_cannot_take_ends_it_with_a_word() {
        serving();
        resumed();
        on(ANEW);
        assertThat(on(new Event.NotTaken(BootPhase.TUNNEL, "no-readmission")))
                .startsWith(
                        new Act.Say(new VmMessage.Trouble(BootPhase.TUNNEL, "no-readmission")),
                        new Act.Leave("no-readmission", true),
                        new Act.Undo(Step.SLURMD, true));
    }

    @Test
    void a_release_in_the_midst_of_it_waits_for_its_end() {
        serving();
        resumed();
        on(ANEW);
        assertThat(on(new Event.Heard(new VerifierMessage.Release())))
                .containsExactly(new Act.Leave("released", false));
        assertThat(on(DONE)).containsExactly(new Act.Undo(Step.SLURMD, false));
    }

    @Test
    void at_half_of_its_certificates_life_it_comes_for_another_by_a_new_circuit() {
        serving();
        beatFor(RENEWAL.minusMinutes(1));
        List<Act> acts = after(Duration.ofMinutes(1));
        assertThat(acts).contains(new Act.HangUp());
        assertThat(course.isOpen()).isFalse();
        assertThat(on(new Event.Closed())).isEmpty();
        assertThat(after(Duration.ofSeconds(1))).containsExactly(new Act.Call(true));
        on(new Event.Opened(Heard.FRESH));
        on(ANEW);
        on(DONE);
        beatFor(RENEWAL.minusMinutes(1));
        assertThat(after(Duration.ofMinutes(1))).contains(new Act.HangUp());
    }

    @Test
    void when_nothing_comes_of_it_it_tries_again_after_a_while() {
        serving();
        beatFor(RENEWAL.minusMinutes(1));
        after(Duration.ofMinutes(1));
        on(new Event.Closed());
        after(Duration.ofSeconds(1));
        on(new Event.Opened(Heard.FRESH));
        on(new Event.Heard(new VerifierMessage.Beat()));
        assertThat(after(Renewing.AGAIN.minusSeconds(2))).doesNotContain(new Act.HangUp());
        assertThat(after(Duration.ofSeconds(2))).contains(new Act.HangUp());
    }

    @Test
    void words_of_the_end_are_not_lost_between_two_circuits() {
        serving();
        beatFor(RENEWAL.minusMinutes(1));
        after(Duration.ofMinutes(1));
        on(new Event.Stop());
        List<Act> last = List.of();
        for (Step step :
                List.of(Step.SLURMD, Step.MUNGE, Step.USERS, Step.STORAGE, Step.NAMES, Step.SCRATCH, Step.TIME)) {
            last = on(new Event.Undid(step));
        }
        assertThat(last).containsExactly(new Act.Sign());
        assertThat(on(new Event.Signed(Optional.of(Heard.STATEMENT)))).isEmpty();
        on(new Event.Closed());
        assertThat(after(Duration.ofSeconds(1))).contains(new Act.Call(true));
        assertThat(on(new Event.Opened(Heard.FRESH))).contains(new Act.Say(new VmMessage.Part(Heard.STATEMENT)));
    }

    private void beatFor(Duration time) {
        for (Duration left = time; !left.isZero(); left = left.minusMinutes(1)) {
            assertThat(after(Duration.ofMinutes(1))).doesNotContain(new Act.HangUp());
            on(new Event.Heard(new VerifierMessage.Beat()));
        }
    }
}
