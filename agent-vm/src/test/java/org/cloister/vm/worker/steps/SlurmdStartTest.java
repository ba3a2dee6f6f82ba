package org.cloister.vm.worker.steps;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import org.cloister.vm.system.daemon.UnitControl;
import org.junit.jupiter.api.Test;

class SlurmdStartTest {
    private Instant now = Instant.EPOCH;
    private int starts;

    /** A unit that fails some times; each start takes nine seconds, as of a slurmd that reaches nobody. */
    private UnitControl failing(int times) {
        return new UnitControl() {
            @Override
            public void start(String unit, String settings) throws IOException {
                now = now.plusSeconds(9);
                starts++;
                if (starts <= times) {
                    throw new IOException("start " + starts);
                }
            }

            @Override
            public void tryRestart(String unit) {}

            @Override
            public void stop(String unit) {}
        };
    }

    private void start(int failures) throws IOException {
        new SlurmdStart(failing(failures), () -> now, Duration.ofMinutes(1), Duration.ofMillis(1)).start("");
    }

    @Test
    void a_slurmd_that_finds_nobody_is_started_again() throws IOException {
        start(3);
        assertThat(starts).isEqualTo(4);
    }

    @Test
    void a_slurmd_that_never_starts_ends_the_worker_in_bounded_time() {
        assertThatThrownBy(() -> start(1000)).isInstanceOf(IOException.class).hasMessage("start 7");
    }
}
