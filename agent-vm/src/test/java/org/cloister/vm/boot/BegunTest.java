package org.cloister.vm.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.cloister.protocol.identity.Role;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an agent finds of the one before it. */
class BegunTest {
    @TempDir
    private Path folder;

    @Test
    void an_agent_finds_what_the_one_before_it_began() throws IOException {
        Begun first = Begun.open(folder);
        assertThat(first.isAsked()).isFalse();
        assertThat(first.isAskedFor(Role.WORKER)).isFalse();
        first.asked(Role.WORKER);
        first.asked(Role.WORKER);
        first.step("clock", "");
        first.step("network", "52:54:0a:40:0c:05");
        Begun second = Begun.open(folder);
        assertThat(second.isAsked()).isTrue();
        assertThat(second.isAskedFor(Role.WORKER)).isTrue();
        assertThat(second.isAskedFor(Role.CONTROLLER)).isFalse();
        assertThat(second.steps()).containsExactly("clock", "network");
        assertThat(second.note("network")).contains("52:54:0a:40:0c:05");
        assertThat(second.note("clock")).isEmpty();
        assertThat(second.note("tunnel")).isEmpty();
        assertThat(Files.readAllLines(folder.resolve("begun"))).hasSize(3);
    }

    @Test
    void a_line_that_was_cut_off_counts_and_what_cannot_be_read_was_everything() throws IOException {
        Path file = folder.resolve("begun");
        Files.writeString(file, "asked worker\nclock \nnetwork 52:5");
        assertThat(Begun.open(folder).steps()).containsExactly("clock", "network");
        for (String cut : List.of("", "as", "x".repeat(5000), "\u00ff\n")) {
            Files.writeString(file, cut, StandardCharsets.ISO_8859_1);
            Begun begun = Begun.open(folder);
            assertThat(begun.isAsked()).isTrue();
            assertThat(begun.isAskedFor(Role.WORKER)).isTrue();
            assertThat(begun.isAskedFor(Role.CONTROLLER)).isTrue();
            assertThat(begun.isUnknown()).isEqualTo(!cut.equals("as"));
        }
    }
}
