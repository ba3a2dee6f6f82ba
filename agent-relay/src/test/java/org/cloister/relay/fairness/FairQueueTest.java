package org.cloister.relay.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("boundary")
class FairQueueTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final int QUANTUM = 16;

    private static FairQueue<String, String> queue(LaneLimits each) {
        return new FairQueue<>(10_000, QUANTUM, key -> each);
    }

    private static List<String> drain(FairQueue<String, String> queue, long nowNs) {
        List<String> taken = new ArrayList<>();
        for (Optional<FairQueue.Dequeued<String, String>> next = queue.poll(nowNs);
                next.isPresent();
                next = queue.poll(nowNs)) {
            taken.add(next.get().what());
        }
        return taken;
    }

    @Test
    void an_entry_waits_for_one_round_of_the_others_however_many_of_theirs_came_before() {
        for (long cost : new long[] {1, 3, 16}) {
            FairQueue<String, String> queue = queue(LaneLimits.unpaced(5000, 5000));
            for (int i = 0; i < 1000; i++) {
                assertThat(queue.offer("flood", cost, "flood", 0)).isTrue();
            }
            assertThat(queue.offer("other", 16, "other", 0)).isTrue();
            assertThat(drain(queue, 0).indexOf("other"))
                    .as("position of the other's entry, of a flood of cost %s", cost)
                    .isLessThanOrEqualTo((int) ((QUANTUM + cost - 1) / cost));
        }
    }

    @Test
    void lanes_get_the_same_cost_and_not_the_same_number() {
        FairQueue<String, String> queue = queue(LaneLimits.unpaced(5000, 5000));
        for (int i = 0; i < 1600; i++) {
            queue.offer("cheap", 1, "cheap", 0);
        }
        for (int i = 0; i < 100; i++) {
            queue.offer("dear", 16, "dear", 0);
        }
        List<String> half = drain(queue, 0).subList(0, 850);
        assertThat(half.stream().filter("dear"::equals).count()).isBetween(48L, 52L);
    }

    @Test
    void a_lane_and_the_whole_have_a_bound() {
        FairQueue<String, String> queue = new FairQueue<>(5, 1, key -> LaneLimits.unpaced(3, 1));
        for (int i = 0; i < 3; i++) {
            assertThat(queue.offer("a", 1, "a", 0)).isTrue();
        }
        assertThat(queue.offer("a", 1, "a", 0)).as("a fourth of one key").isFalse();
        assertThat(queue.offer("b", 1, "b", 0)).isTrue();
        assertThat(queue.offer("b", 1, "b", 0)).isTrue();
        assertThat(queue.offer("c", 1, "c", 0)).as("a sixth of all").isFalse();
        assertThat(queue.size()).isEqualTo(5);
    }

    @Test
    void who_has_enough_unfinished_lets_others_pass_and_comes_back() {
        FairQueue<String, String> queue = queue(LaneLimits.unpaced(10, 1));
        queue.offer("a", 1, "a1", 0);
        queue.offer("a", 1, "a2", 0);
        queue.offer("b", 1, "b1", 0);
        assertThat(drain(queue, 0)).containsExactly("a1", "b1");
        assertThat(queue.waitNs(0)).as("no time helps").isEmpty();
        queue.finish("a");
        assertThat(drain(queue, 0)).containsExactly("a2");
    }

    @Test
    void a_rate_holds_one_lane_back_and_no_other() {
        FairQueue<String, String> queue = queue(new LaneLimits(100, 100, 10, 20));
        for (int i = 0; i < 50; i++) {
            queue.offer("flood", 1, "flood", 0);
        }
        assertThat(drain(queue, 0)).hasSize(20);
        assertThat(queue.waitNs(0)).contains(SECOND / 10);
        queue.offer("other", 1, "other", 0);
        assertThat(drain(queue, 0)).containsExactly("other");
        assertThat(drain(queue, SECOND)).hasSize(10);
        queue.charge("flood", 10, SECOND);
        assertThat(drain(queue, 2 * SECOND)).as("after a debt of a second").isEmpty();
        assertThat(drain(queue, 3 * SECOND)).hasSize(10);
    }

    @Test
    void keys_that_come_once_are_forgotten() {
        FairQueue<String, String> queue = queue(new LaneLimits(100, 100, 1000, 10));
        for (int i = 0; i < 100_000; i++) {
            queue.offer("key " + i, 1, "entry", i * SECOND);
            assertThat(queue.poll(i * SECOND)).isPresent();
            queue.finish("key " + i);
        }
        assertThat(queue.lanes()).isLessThanOrEqualTo(1024);
    }
}
