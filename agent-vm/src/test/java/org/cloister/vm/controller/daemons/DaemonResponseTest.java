package org.cloister.vm.controller.daemons;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.cloister.base.process.ProcessRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DaemonResponseTest {
    private static final Duration ATTEMPT = Duration.ofMillis(300);

    @TempDir
    Path folder;

    @Test
    void a_client_that_hangs_is_run_again() throws IOException {
        Path hung = folder.resolve("hung");
        DaemonResponse response = new DaemonResponse(ProcessRunner.local(), ATTEMPT, Duration.ofMinutes(1));

        response.await(
                "x.service", "up", "sh", "-c", "test -e " + hung + " || { : >" + hung + "; sleep 60; }; echo up");

        assertThat(hung).exists();
    }

    @Test
    void the_last_attempt_tells_why_there_is_no_answer() {
        DaemonResponse response = new DaemonResponse(ProcessRunner.local(), ATTEMPT, Duration.ofSeconds(1));

        assertThatThrownBy(() -> response.await("x.service", "", "sh", "-c", "echo not yet >&2; exit 1"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("x.service: no answer within 1 s")
                .hasMessageContaining("not yet");
        assertThatThrownBy(() -> response.await("x.service", "", "sleep", "60"))
                .hasMessageContaining("sleep 60: want an end within 300 ms");
    }
}
