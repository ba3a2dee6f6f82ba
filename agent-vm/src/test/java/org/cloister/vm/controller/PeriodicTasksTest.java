package org.cloister.vm.controller;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PeriodicTasksTest {
    @Test
    @SuppressWarnings("FutureReturnValueIgnored") // what it does is looked at
    void one_that_throws_keeps_neither_the_others_nor_itself_from_the_next_time() throws Exception {
        CountDownLatch thrown = new CountDownLatch(3);
        CountDownLatch done = new CountDownLatch(3);
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        try {
            timer.scheduleWithFixedDelay(
                    new PeriodicTasks(List.of(
                            () -> {
                                thrown.countDown();
                                throw new IllegalStateException("as the test wants it");
                            },
                            done::countDown)),
                    0,
                    1,
                    TimeUnit.MILLISECONDS);
            assertThat(thrown.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(done.await(20, TimeUnit.SECONDS)).isTrue();
        } finally {
            timer.shutdownNow();
        }
    }
}
