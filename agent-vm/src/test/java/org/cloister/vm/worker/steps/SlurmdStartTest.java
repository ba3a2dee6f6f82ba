package org.cloister.vm.worker.steps;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.Instant;
import java.util.function.BooleanSupplier;
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

    private void start(int failures, BooleanSupplier filterRuns) throws IOException {
        new SlurmdStart(failing(failures), filterRuns, () -> now, Duration.ofMinutes(1), Duration.ofMillis(1))
                .start("");
    }

    @Test
    void a_slurmd_that_finds_nobody_is_started_again() throws IOException {
        start(3, () -> false);
        assertThat(starts).isEqualTo(4);
    }

    @Test
    void a_slurmd_that_failed_before_the_filter_was_back_is_started_again() throws IOException {
        start(1, () -> starts > 0);
        assertThat(starts).isEqualTo(2);
    }

    @Test
    void a_slurmd_that_does_not_start_while_the_filter_runs_ends_the_worker() {
        assertThatThrownBy(() -> start(1000, () -> true)).hasMessage("start 1");
    }

    @Test
    void a_slurmd_that_never_starts_ends_the_worker_in_bounded_time() {
        assertThatThrownBy(() -> start(1000, () -> false))
                .isInstanceOf(IOException.class)
                .hasMessage("start 7");
    }

    @Test
    void a_port_answers_while_somebody_listens() throws IOException {
        ControllerPort port;
        try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = new ControllerPort(listening.getInetAddress(), listening.getLocalPort());
            assertThat(port.answers()).isTrue();
        }
        assertThat(port.answers()).isFalse();
    }
}
