package org.cloister.vm.controller.queue;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PollScheduleTest {
    private static final long MS = 1_000_000;
    private final PollSchedule schedule = new PollSchedule(0);

    @Test
    void the_first_look_is_due_at_once_and_the_next_a_second_later() {
        assertThat(schedule.nextNs()).isLessThanOrEqualTo(0);
        schedule.onPollStart(0);
        schedule.onPollEnd(10 * MS, 10 * MS, false);
        assertThat(schedule.nextNs()).isEqualTo(1000 * MS);
    }

    @Test
    void a_ring_is_followed_by_three_looks() {
        schedule.onPollStart(0);
        schedule.onPollEnd(10 * MS, 10 * MS, false);
        schedule.onNotification(300 * MS);
        assertThat(schedule.nextNs()).isLessThanOrEqualTo(300 * MS);
        schedule.onPollStart(301 * MS);
        schedule.onPollEnd(311 * MS, 10 * MS, false);
        assertThat(schedule.nextNs()).isEqualTo(500 * MS);
        schedule.onPollStart(500 * MS);
        schedule.onPollEnd(510 * MS, 10 * MS, false);
        assertThat(schedule.nextNs()).isEqualTo(1300 * MS);
        schedule.onPollStart(1300 * MS);
        schedule.onPollEnd(1310 * MS, 10 * MS, false);
        assertThat(schedule.nextNs()).isEqualTo(2300 * MS);
    }

    @Test
    void slurm_rests_between_looks_as_long_as_its_answers_to_one_took() {
        schedule.onPollStart(0);
        schedule.onWorkerEvent();
        schedule.onPollEnd(400 * MS, 300 * MS, true);
        assertThat(schedule.nextNs()).isEqualTo(700 * MS);
        schedule.onPollStart(700 * MS);
        schedule.onPollEnd(701 * MS, 10 * MS, true);
        assertThat(schedule.nextNs()).isEqualTo(800 * MS);
    }

    @Test
    void what_was_done_after_a_look_is_no_reason_to_rest_longer() {
        schedule.onPollStart(0);
        schedule.onWorkerEvent();
        schedule.onPollEnd(400 * MS, 20 * MS, true);
        assertThat(schedule.nextNs()).isEqualTo(450 * MS);
    }
}
