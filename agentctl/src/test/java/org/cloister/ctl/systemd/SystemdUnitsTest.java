package org.cloister.ctl.systemd;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SystemdUnitsTest {
    private static final String UNIT = "cloister-site-serve.service";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path root;

    @Test
    void a_drop_in_that_agentctl_wrote_can_be_removed_and_no_other() throws IOException {
        SystemdUnits units = SystemdTree.running(root).with(UNIT).units();
        units.disallowWrites(UNIT, "site");
        Path file = units.allowWrites(UNIT, "site", new WritableFolder(Path.of("/srv/ca")));
        assertThat(file).exists();
        units.disallowWrites(UNIT, "site");
        assertThat(file).doesNotExist();
        Files.writeString(file, "[Service]\nReadWritePaths=/srv/ca\n");
        units.disallowWrites(UNIT, "site");
        assertThat(file).exists();
    }

    @Test
    void a_unit_exists_where_one_of_its_folders_has_it_even_masked() throws IOException {
        SystemdUnits units = SystemdTree.running(root).units();
        assertThat(units.exists(UNIT)).isFalse();
        Files.createSymbolicLink(root.resolve("etc/systemd/system").resolve(UNIT), Path.of("/dev/null"));
        assertThat(units.exists(UNIT)).isTrue();
    }
}
