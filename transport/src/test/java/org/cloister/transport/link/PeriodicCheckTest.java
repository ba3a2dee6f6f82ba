package org.cloister.transport.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.concurrent.DefaultEventExecutor;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PeriodicCheckTest {
    @Test
    @SuppressWarnings("FutureReturnValueIgnored")
    void a_look_that_fails_is_not_the_last_one() throws InterruptedException {
        DefaultEventExecutor loop = new DefaultEventExecutor();
        CountDownLatch checks = new CountDownLatch(3);
        try (PeriodicCheck check = new PeriodicCheck(
                loop,
                () -> {
                    checks.countDown();
                    throw new IllegalStateException("a defect");
                },
                Duration.ofMillis(1))) {
            assertThat(check).isNotNull();
            assertThat(checks.await(20, TimeUnit.SECONDS)).isTrue();
        } finally {
            loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        }
    }

    @Test
    @SuppressWarnings("FutureReturnValueIgnored")
    void once_closed_it_looks_no_more() throws Exception {
        DefaultEventExecutor loop = new DefaultEventExecutor();
        AtomicInteger checks = new AtomicInteger();
        PeriodicCheck check = new PeriodicCheck(loop, checks::incrementAndGet, Duration.ofMillis(1));
        check.close();
        int before = loop.submit(checks::get).get();
        // Whatever was to come at this period is behind this on the same loop.
        int after = loop.schedule(checks::get, 50, TimeUnit.MILLISECONDS).get();
        assertThat(after - before).isZero();
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
}
