package org.cloister.relay.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TokenBucketTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    @Test
    void a_burst_then_the_rate() {
        TokenBucket rate = new TokenBucket(50, 100, 0);
        for (int i = 0; i < 100; i++) {
            assertThat(rate.tryAcquire(1, 0)).isTrue();
        }
        assertThat(rate.tryAcquire(1, 0)).isFalse();
        assertThat(rate.waitNs(1, 0)).isEqualTo(SECOND / 50);
        assertThat(rate.tryAcquire(1, SECOND / 50 - 1)).isFalse();
        assertThat(rate.tryAcquire(1, SECOND / 50)).isTrue();
        assertThat(rate.tryAcquire(50, SECOND / 50 + SECOND)).isTrue();
        assertThat(rate.tryAcquire(101, 1000 * SECOND))
                .as("more than ever fits, from a full one")
                .isTrue();
    }

    @Test
    void a_debt_is_paid_by_what_comes_and_has_an_end() {
        TokenBucket rate = new TokenBucket(10, 10, 0);
        rate.charge(1000, 0);
        assertThat(rate.waitNs(1, 0)).isEqualTo(11 * SECOND / 10);
        assertThat(rate.isFull(SECOND)).isFalse();
        assertThat(rate.isFull(2 * SECOND)).isTrue();
    }

    @Test
    void time_that_is_split_earns_as_much_as_whole_time() {
        TokenBucket rate = new TokenBucket(3, 3, 0);
        rate.charge(3, 0);
        for (int i = 1; i <= 1000; i++) {
            rate.waitNs(1, i * SECOND / 1000);
        }
        assertThat(rate.tryAcquire(3, SECOND)).isTrue();
    }
}
