package org.cloister.base.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
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

    @Test
    void a_secret_is_a_programs_input_and_its_end_is_seen() throws IOException {
        byte[] secret = "correct horse\n".getBytes(StandardCharsets.UTF_8);
        assertThat(programs.runWithSecret(secret, List.of("cat"), Duration.ofSeconds(10)))
                .isEqualTo(new ProcessRunner.Output(0, "correct horse\n", ""));
        assertThat(ProcessRunner.withPrefix(List.of("env", "A=b"))
                        .runWithSecret(secret, List.of("sh", "-c", "wc -c; echo $A"), Duration.ofSeconds(10))
                        .out())
                .isEqualTo("14\nb\n");
        byte[] most = new byte[4096];
        assertThat(programs.runWithSecret(most, List.of("wc", "-c"), Duration.ofSeconds(10))
                        .out())
                .isEqualTo("4096\n");
        assertThatThrownBy(() -> programs.runWithSecret(new byte[4097], List.of("cat"), Duration.ofSeconds(10)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_program_that_refuses_a_secret_gives_the_reason() throws IOException {
        byte[] secret = {1};
        assertThat(programs.runWithSecret(
                                secret, List.of("sh", "-c", "exec <&-; echo no >&2; exit 3"), Duration.ofSeconds(10))
                        .exit())
                .isEqualTo(3);
    }
}
