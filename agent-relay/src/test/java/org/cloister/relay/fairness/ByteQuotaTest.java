package org.cloister.relay.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("boundary")
class ByteQuotaTest {
    private final ByteQuota quota = new ByteQuota(100, 250, 10);

    @Test
    void a_key_that_is_at_its_limit_gets_no_more_until_it_releases() {
        assertThat(quota.tryReserve("a", 100)).isTrue();
        assertThat(quota.tryReserve("a", 1)).isFalse();
        assertThat(quota.reserved()).isEqualTo(100);
        assertThat(quota.tryReserve("b", 100)).as("another key").isTrue();
        quota.release("a", 40);
        assertThat(quota.tryReserve("a", 41)).isFalse();
        assertThat(quota.tryReserve("a", 40)).isTrue();
    }

    @Test
    void keys_that_use_up_the_total_leave_each_other_key_a_little() {
        assertThat(quota.tryReserve("a", 100) && quota.tryReserve("b", 100) && quota.tryReserve("c", 50))
                .isTrue();
        assertThat(quota.tryReserve("c", 1))
                .as("of a key with more than a little")
                .isFalse();
        assertThat(quota.tryReserve("d", 11)).isFalse();
        assertThat(quota.tryReserve("d", 10)).isTrue();
        assertThat(quota.tryReserve("d", 1)).isFalse();
        quota.release("a", 100);
        assertThat(quota.tryReserve("d", 90)).isTrue();
    }

    @Test
    void what_is_added_without_a_check_counts() {
        quota.add("a", 300);
        assertThat(quota.tryReserve("a", 1)).isFalse();
        assertThat(quota.tryReserve("b", 11)).isFalse();
        quota.release("a", 300);
        assertThat(quota.reserved()).isZero();
        assertThat(quota.tryReserve("a", 100)).isTrue();
    }
}
