package org.cloister.vm.controller.queue;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PollScheduleTest {
    private static final long MS = 1_000_000;
    private final PollSchedule beat = new PollSchedule(0);

    @Test
    void the_first_look_is_due_at_once_and_the_next_a_second_later() {
        assertThat(beat.nextNs()).isLessThanOrEqualTo(0);
        beat.onPollStart(0);
        beat.onPollEnd(10 * MS, 10 * MS, false);
        assertThat(beat.nextNs()).isEqualTo(1000 * MS);
    }

    @Test
    void a_ring_is_followed_by_three_looks() {
        beat.onPollStart(0);
        beat.onPollEnd(10 * MS, 10 * MS, false);
        beat.onNotification(300 * MS);
        assertThat(beat.nextNs()).isLessThanOrEqualTo(300 * MS);
        beat.onPollStart(301 * MS);
        beat.onPollEnd(311 * MS, 10 * MS, false);
        assertThat(beat.nextNs()).isEqualTo(500 * MS);
        beat.onPollStart(500 * MS);
        beat.onPollEnd(510 * MS, 10 * MS, false);
        assertThat(beat.nextNs()).isEqualTo(1300 * MS);
        beat.onPollStart(1300 * MS);
        beat.onPollEnd(1310 * MS, 10 * MS, false);
        assertThat(beat.nextNs()).isEqualTo(2300 * MS);
    }

    @Test
    void slurm_rests_between_looks_as_long_as_its_answers_to_one_took() {
        beat.onPollStart(0);
        beat.onWorkerEvent();
        beat.onPollEnd(400 * MS, 300 * MS, true);
        assertThat(beat.nextNs()).isEqualTo(700 * MS);
        beat.onPollStart(700 * MS);
        beat.onPollEnd(701 * MS, 10 * MS, true);
        assertThat(beat.nextNs()).isEqualTo(800 * MS);
    }

    @Test
    void what_was_done_after_a_look_is_no_reason_to_rest_longer() {
        beat.onPollStart(0);
        beat.onWorkerEvent();
        beat.onPollEnd(400 * MS, 20 * MS, true);
        assertThat(beat.nextNs()).isEqualTo(450 * MS);
    }
}
