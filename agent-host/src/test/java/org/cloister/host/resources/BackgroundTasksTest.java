package org.cloister.host.resources;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class BackgroundTasksTest {
    private final BackgroundTasks work = new BackgroundTasks(Duration.ofMillis(200));
    private final AtomicInteger started = new AtomicInteger();

    @Test
    void what_takes_long_is_begun_once_and_others_work_goes_on() throws IOException {
        CountDownLatch end = new CountDownLatch(1);
        BackgroundTasks.Task slow = () -> {
            started.incrementAndGet();
            try {
                end.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        };
        assertThatThrownBy(() -> work.run("slow", slow))
                .hasMessage("slow has not finished yet and continues in the background");
        assertThatThrownBy(() -> work.run("slow", slow)).isInstanceOf(IOException.class);
        work.run("other", started::incrementAndGet);
        end.countDown();
        work.run("slow", slow);
        assertThat(started).as("once each").hasValue(2);
    }

    @Test
    void what_failed_says_why_and_is_begun_again() throws IOException {
        assertThatThrownBy(() -> work.run("disk", () -> {
                    throw new IOException("no such disk");
                }))
                .hasMessage("no such disk");
        work.run("disk", started::incrementAndGet);
        assertThat(started).hasValue(1);
    }
}
