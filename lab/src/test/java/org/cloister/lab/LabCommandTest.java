package org.cloister.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LabCommandTest {
    @Test
    void hands_back_both_outputs_and_the_exit_status() throws IOException {
        assertThat(LabCommand.of("sh", "-c", "cat; echo err >&2; exit 3")
                        .reading("in\n")
                        .run())
                .isEqualTo(new LabCommand.Output(3, "in\n", "err\n"));
    }

    @Test
    void says_what_a_failed_command_said() {
        assertThatThrownBy(() -> LabCommand.of("sh", "-c", "echo no such thing >&2; exit 4")
                        .succeed())
                .isInstanceOf(LabException.class)
                .hasMessageContaining("exit 4: no such thing");
    }

    @Test
    void ends_a_command_that_does_not_end() {
        assertThatThrownBy(() -> LabCommand.of("sleep", "30")
                        .within(Duration.ofMillis(100))
                        .run())
                .isInstanceOf(LabException.class)
                .hasMessageContaining("sleep: no end within");
    }

    @Test
    void takes_a_large_output_while_it_feeds_a_large_input() throws IOException {
        String text = "0123456789abcdef\n".repeat(1 << 16);
        assertThat(LabCommand.of("cat").reading(text).succeed()).isEqualTo(text);
    }

    @Test
    void hands_each_line_on_as_it_comes() throws IOException {
        List<String> lines = new ArrayList<>();
        assertThat(LabCommand.of("sh", "-c", "echo one; echo two; echo err >&2; exit 3")
                        .follow(lines::add))
                .isEqualTo(new LabCommand.Output(3, "", "err\n"));
        assertThat(lines).containsExactly("one", "two");
        assertThatThrownBy(() -> LabCommand.of("sleep", "30")
                        .within(Duration.ofMillis(100))
                        .follow(lines::add))
                .hasMessageContaining("sleep: no end within");
    }
}
