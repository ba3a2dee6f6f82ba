package org.cloister.base.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProcessRunnerTest {
    private final ProcessRunner programs = ProcessRunner.local();

    @Test
    void says_what_a_program_wrote_and_how_it_ended() throws IOException {
        assertThat(programs.runChecked("to be read", List.of("cat"))).isEqualTo("to be read");
        assertThat(programs.run("sh", "-c", "echo one >&2; echo two >&2; exit 3"))
                .isEqualTo(new ProcessRunner.Output(3, "", "one\ntwo\n"))
                .extracting(ProcessRunner.Output::errorSummary)
                .isEqualTo("two");
        assertThat(new ProcessRunner.Output(32, "", "mount: /x: no\n       dmesg(1) may have more\n\n").errorSummary())
                .isEqualTo("mount: /x: no");
        assertThatThrownBy(() -> programs.runChecked("sh", "-c", "printf 'b\\303\\266se' >&2; exit 1"))
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
        assertThat(programs.runChecked("env").lines())
                .allMatch(line -> line.matches("(PATH|LC_ALL)=.*"))
                .hasSize(2);
    }
}
