package org.cloister.host.libvirt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BoundedCallsTest {
    private final BoundedCalls calls = new BoundedCalls(Duration.ofMillis(50));

    @AfterEach
    void close() {
        calls.close();
    }

    @Test
    void what_a_call_says_or_throws_comes_back() throws Exception {
        assertThat(calls.<Integer>within("count", () -> 7)).isEqualTo(7);
        assertThatThrownBy(() -> calls.within("count", () -> {
                    throw new IOException("lost count");
                }))
                .isInstanceOf(ExecutionException.class)
                .hasRootCauseMessage("lost count");
    }

    @Test
    void late_calls_are_unknown_and_keep_their_threads_until_they_return() throws Exception {
        CountDownLatch returns = new CountDownLatch(1);
        CountDownLatch returned = new CountDownLatch(5);
        for (int call = 0; call < 5; call++) {
            assertThatThrownBy(() -> calls.within("list", () -> {
                        returns.await();
                        returned.countDown();
                        return true;
                    }))
                    .isInstanceOf(HypervisorUnavailable.class)
                    .hasMessage("libvirt: list: no answer in 50 ms; check libvirtd on this host");
        }
        assertThatThrownBy(() -> calls.within("list", () -> true))
                .isInstanceOf(HypervisorUnavailable.class)
                .hasMessageContaining("5 earlier calls have not returned");
        returns.countDown();
        returned.await();
        while (!answers()) {
            Thread.onSpinWait();
        }
    }

    private boolean answers() throws ExecutionException {
        try {
            return calls.within("list", () -> true);
        } catch (HypervisorUnavailable e) {
            return false;
        }
    }
}
