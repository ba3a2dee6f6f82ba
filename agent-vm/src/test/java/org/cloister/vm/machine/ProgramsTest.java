package org.cloister.vm.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgramsTest {
    private final Programs programs = Programs.ofThisMachine();

    @Test
    void says_what_a_program_wrote_and_how_it_ended() throws IOException {
        assertThat(programs.succeed("to be read", List.of("cat"))).isEqualTo("to be read");
        assertThat(programs.run("sh", "-c", "echo one >&2; echo two >&2; exit 3"))
                .isEqualTo(new Programs.Output(3, "", "one\ntwo\n"))
                .extracting(Programs.Output::complaint)
                .isEqualTo("two");
        assertThat(new Programs.Output(32, "", "mount: /x: no\n       dmesg(1) may have more\n\n").complaint())
                .isEqualTo("mount: /x: no");
        assertThatThrownBy(() -> programs.succeed("sh", "-c", "printf 'b\\303\\266se' >&2; exit 1"))
                .hasMessage("sh -c printf 'b\\303\\266se' >&2; exit 1: b?se");
        assertThatThrownBy(() -> programs.run("no-such-program")).isInstanceOf(IOException.class);
    }

    @Test
    void ends_what_does_not_end_or_says_too_much() {
        assertThatThrownBy(() -> programs.run("", List.of("sleep", "60"), Duration.ofMillis(200)))
                .hasMessage("sleep 60: want an end within 200 ms, have none; see what it waits for");
        assertThatThrownBy(() -> programs.run("sh", "-c", "yes")).hasMessageContaining("more than 4194304 bytes");
    }

    @Test
    void nothing_of_our_environment_reaches_a_program() throws IOException {
        assertThat(programs.succeed("env").lines())
                .allMatch(line -> line.matches("(PATH|LC_ALL)=.*"))
                .hasSize(2);
    }

    @Test
    void a_daemon_is_started_once_found_by_another_and_started_again(@TempDir Path folder) throws Exception {
        Daemon first = daemon(folder);
        Daemon second = daemon(folder);
        try {
            first.start();
            List<ProcessHandle> running = first.running();
            assertThat(running).hasSize(1);
            first.leave();
            second.start();
            assertThat(second.running()).isEqualTo(running);
            running.get(0).destroyForcibly();
            running.get(0).onExit().get();
            long deadline = System.nanoTime() + Duration.ofSeconds(10).toNanos();
            while (second.running().isEmpty() && System.nanoTime() < deadline) {
                Thread.sleep(20);
            }
            assertThat(second.running()).hasSize(1).doesNotContainAnyElementsOf(running);
        } finally {
            first.stop();
            second.stop();
        }
        assertThat(first.running()).isEmpty();
    }

    private Daemon daemon(Path folder) {
        return new Daemon(programs, "test " + folder, List.of("sleep", "600"), Map.of(), folder.resolve("log"));
    }
}
