package org.cloister.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LabReleasesTest {
    private static final List<String> MACHINES = List.of("site", "h1");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private LabReleases parse(String text) throws IOException {
        return LabReleases.parse(text, MACHINES, new LabHome(folder));
    }

    private Path root(String suite, String digest) throws IOException {
        Path roots = Files.createDirectories(folder.resolve("cache/roots"));
        Path root = Files.createDirectories(roots.resolve(suite + "-" + digest));
        Files.deleteIfExists(roots.resolve(suite));
        Files.createSymbolicLink(roots.resolve(suite), root.getFileName());
        return root;
    }

    @Test
    void a_machine_has_its_release_or_that_of_all_or_the_real_machines() throws IOException {
        Path potato = root("potato", "0a");
        LabRelease own = LabRelease.own();
        assertThat(parse("").byMachine().values()).containsOnly(own);
        assertThat(parse("potato").of("h1").root()).contains(potato);
        assertThat(parse("potato").of("site").root()).contains(potato);
        assertThat(parse("h1=potato").of("h1").root()).contains(potato);
        assertThat(parse("h1=potato").of("site")).isEqualTo(own);
        assertThat(parse("site=" + own.suite() + ",h1=potato")).hasToString("h1=potato,site=" + own.suite());
    }

    @Test
    void a_lab_keeps_the_files_that_its_release_had_when_it_began() throws IOException {
        Path first = root("potato", "0a");
        LabReleases running = parse("potato");
        root("potato", "0b");
        assertThat(running.of("h1").root()).contains(first);
    }

    @Test
    void what_is_no_release_and_what_is_no_machine_is_refused_by_name() {
        assertThatThrownBy(() -> parse("woody"))
                .isInstanceOf(LabException.class)
                .hasMessageContaining("release woody: no file system at ");
        for (String wrong : List.of("h2=woody", "h1=", "h1=a=b", ",", "h1=woody,")) {
            assertThatThrownBy(() -> parse(wrong)).as(wrong).isInstanceOf(LabException.class);
        }
        assertThatThrownBy(() -> parse("h2=woody"))
                .hasMessageContaining("\"h2=woody\": want MACHINE=RELEASE with a machine of [site, h1]");
    }

    @Test
    void the_name_by_which_the_files_were_made_counts_before_the_name_that_they_have() throws IOException {
        Path root = root("sid", "0a");
        Files.createDirectories(root.resolve("etc"));
        Files.writeString(root.resolve("etc/os-release"), "ID=debian\nVERSION_CODENAME=\"forky\"\n");
        assertThat(LabRelease.suiteBelow(root)).isEqualTo("forky");
        Files.writeString(root.resolve("etc/lab-release"), "sid\n");
        assertThat(LabRelease.suiteBelow(root)).isEqualTo("sid");
    }
}
