package org.cloister.host.libvirt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BoundedCallsTest {
    private static final Duration LIMIT = Duration.ofMillis(50);
    private static final Duration LONG = Duration.ofMinutes(1);

    private final BoundedCalls calls = new BoundedCalls("call", 5, LIMIT);

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

    @Test
    void a_start_has_a_second_more_for_each_gib() {
        assertThat(LibvirtHypervisor.startLimit(LONG, 250 << 10)).isEqualTo(LONG.plusSeconds(250));
    }

    @Test
    void a_call_without_a_thread_waits_and_then_has_its_whole_limit() throws Exception {
        BoundedCalls patient = new BoundedCalls("call", 1, LONG);
        CountDownLatch returns = new CountDownLatch(1);
        CompletableFuture<Boolean> first = inBackground(() -> patient.within("start", () -> await(returns)));
        CompletableFuture<Boolean> second = inBackground(() -> patient.within("start", () -> true));
        assertThat(second).isNotDone();
        returns.countDown();
        assertThat(first.get()).isTrue();
        assertThat(second.get()).isTrue();
        patient.close();
    }

    @Test
    void a_call_that_waited_in_vain_is_never_made() throws Exception {
        BoundedCalls single = new BoundedCalls("call", 1, LIMIT);
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch returns = new CountDownLatch(1);
        CompletableFuture<Boolean> first = inBackground(() -> single.within("start", LONG, () -> {
            started.countDown();
            return await(returns);
        }));
        started.await();
        AtomicBoolean made = new AtomicBoolean();
        assertThatThrownBy(() -> single.within("destroy", LONG, () -> {
                    made.set(true);
                    return true;
                }))
                .isInstanceOf(HypervisorUnavailable.class)
                .hasMessageContaining("destroy: earlier calls took 50 ms");
        returns.countDown();
        assertThat(first.get()).isTrue();
        assertThat(single.<Boolean>within("list", LONG, () -> true)).isTrue();
        assertThat(made).isFalse();
        single.close();
    }

    private static boolean await(CountDownLatch latch) throws InterruptedException {
        latch.await();
        return true;
    }

    private static <T> CompletableFuture<T> inBackground(BoundedCalls.Call<T> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        new Thread(() -> {
                    try {
                        result.complete(call.run());
                    } catch (Exception e) {
                        result.completeExceptionally(e);
                    }
                })
                .start();
        return result;
    }

    private boolean answers() throws ExecutionException {
        try {
            return calls.within("list", () -> true);
        } catch (HypervisorUnavailable e) {
            return false;
        }
    }
}
