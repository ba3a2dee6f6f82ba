package org.cloister.vm.worker.steps;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.cloister.base.process.ProcessRunner;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which logs remain, with this machine's programs; the content of its journal is the test's. */
class FailureLogsTest {
    private static final Instant NOW = Instant.ofEpochSecond(1_764_000_000L, 7);
    private static final String FOLDER = "cloister-mfrggzdfmztwq2lk-3-1764000000";

    private final ProcessRunner programs = ProcessRunner.withPrefix(List.of(
            "/bin/sh", "-c", "case $1 in journalctl) shift; echo \"journal $*\" ;; *) exec \"$@\" ;; esac", "sh"));

    @TempDir
    private Path folder;

    private Path home;
    private Path charon;
    private Path munged;

    @BeforeEach
    void logs() throws IOException {
        home = Files.createDirectory(folder.resolve("home"));
        charon = Files.writeString(folder.resolve("charon.log"), "charon ended\n");
        munged = Files.writeString(folder.resolve("munged.log"), "munged ended\n");
    }

    private void keep() throws IOException {
        new FailureLogs(programs, () -> NOW, Map.of("charon", charon, "munged", munged))
                .save(home, "mfrggzdfmztwq2lk-3");
    }

    private List<String> kept() throws IOException {
        try (var all = Files.list(home.resolve(FOLDER))) {
            return all.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }

    private void isNotUsed() {
        assertThatThrownBy(this::keep).isInstanceOf(IOException.class).hasMessageContaining("mkdir: ");
    }

    @Test
    void the_named_logs_and_the_journal_are_kept_in_a_new_folder() throws IOException {
        keep();
        assertThat(kept()).containsExactly("charon", "journal", "munged");
        assertThat(home.resolve(FOLDER).resolve("charon")).hasContent("charon ended\n");
        assertThat(home.resolve(FOLDER).resolve("munged")).hasContent("munged ended\n");
        assertThat(home.resolve(FOLDER).resolve("journal")).hasContent("journal --boot --lines=5000 --no-pager\n");
    }

    @Test
    void a_log_that_is_not_there_is_left_out_and_so_is_a_link() throws IOException {
        Files.delete(munged);
        Files.move(charon, folder.resolve("secret"));
        Files.createSymbolicLink(charon, folder.resolve("secret"));
        keep();
        assertThat(kept()).containsExactly("journal");
    }

    @Test
    void a_folder_that_is_there_already_is_not_used() throws IOException {
        Files.createDirectory(home.resolve(FOLDER));
        isNotUsed();
        assertThat(kept()).isEmpty();
    }

    @Test
    void a_link_that_somebody_has_laid_there_is_not_followed() throws IOException {
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Files.createSymbolicLink(home.resolve(FOLDER), elsewhere);
        isNotUsed();
        assertThat(elsewhere).isEmptyDirectory();
    }

    @Test
    void a_log_is_cut_to_its_last_million_bytes() throws IOException {
        String all = IntStream.range(0, 200_000)
                .mapToObj(i -> String.format(java.util.Locale.ROOT, "%08d%n", i))
                .collect(Collectors.joining());
        Files.writeString(charon, all);
        keep();
        assertThat(Files.readString(home.resolve(FOLDER).resolve("charon")))
                .isEqualTo(all.substring(all.length() - 1_000_000));
    }
}
