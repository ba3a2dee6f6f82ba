package org.cloister.vm.queue;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BeatTest {
    private static final long MS = 1_000_000;
    private final Beat beat = new Beat(0);

    @Test
    void the_first_look_is_due_at_once_and_the_next_a_second_later() {
        assertThat(beat.nextNs()).isLessThanOrEqualTo(0);
        beat.began(0);
        beat.ended(10 * MS, 10 * MS, false);
        assertThat(beat.nextNs()).isEqualTo(1000 * MS);
    }

    @Test
    void a_ring_is_followed_by_three_looks() {
        beat.began(0);
        beat.ended(10 * MS, 10 * MS, false);
        beat.ring(300 * MS);
        assertThat(beat.nextNs()).isLessThanOrEqualTo(300 * MS);
        beat.began(301 * MS);
        beat.ended(311 * MS, 10 * MS, false);
        assertThat(beat.nextNs()).isEqualTo(500 * MS);
        beat.began(500 * MS);
        beat.ended(510 * MS, 10 * MS, false);
        assertThat(beat.nextNs()).isEqualTo(1300 * MS);
        beat.began(1300 * MS);
        beat.ended(1310 * MS, 10 * MS, false);
        assertThat(beat.nextNs()).isEqualTo(2300 * MS);
    }

    @Test
    void slurm_rests_between_looks_as_long_as_its_answers_to_one_took() {
        beat.began(0);
        beat.news();
        beat.ended(400 * MS, 300 * MS, true);
        assertThat(beat.nextNs()).isEqualTo(700 * MS);
        beat.began(700 * MS);
        beat.ended(701 * MS, 10 * MS, true);
        assertThat(beat.nextNs()).isEqualTo(800 * MS);
    }

    @Test
    void what_was_done_after_a_look_is_no_reason_to_rest_longer() {
        beat.began(0);
        beat.news();
        beat.ended(400 * MS, 20 * MS, true);
        assertThat(beat.nextNs()).isEqualTo(450 * MS);
    }
}
