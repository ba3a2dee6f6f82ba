package org.cloister.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A script stands where scontrol would; it counts how often it is asked. */
class HostlistExpanderTest {
    @TempDir
    private Path folder;

    private HostlistExpander names(String says) throws IOException {
        Path file = Files.writeString(
                folder.resolve("scontrol"), "#!/bin/sh\necho \"$*\" >>" + folder + "/asked\n" + says + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        return new HostlistExpander(new SlurmCommand(Optional.of(folder), Optional.empty(), Duration.ofSeconds(30)));
    }

    private List<String> queries() throws IOException {
        Path queriesFile = folder.resolve("asked");
        return Files.exists(queriesFile) ? Files.readAllLines(queriesFile) : List.of();
    }

    @Test
    void slurm_unfolds_and_is_asked_once_for_each_list() throws IOException {
        HostlistExpander names = names("printf 'h1\\nh2\\nh07\\n'");
        assertThat(names.expand("h[1-2,07]")).containsExactly("h1", "h2", "h07");
        assertThat(names.expand("h[1-2,07]")).containsExactly("h1", "h2", "h07");
        assertThat(queries()).containsExactly("show hostnames h[1-2,07]");
    }

    @Test
    void one_name_and_none_need_no_slurm() throws IOException {
        HostlistExpander names = names("exit 1");
        assertThat(names.expand("vm-abcdefgh-0")).containsExactly("vm-abcdefgh-0");
        assertThat(names.expand("")).isEmpty();
        assertThat(queries()).isEmpty();
    }

    @Test
    void what_is_no_list_of_nodes_never_reaches_slurm() throws IOException {
        HostlistExpander names = names("echo h1");
        for (String bad : List.of("-h,x", "h1 h2", "h[1\n]", "h;x", "(null)", "h[1-2]$", "é[1-2]")) {
            assertThatThrownBy(() -> names.expand(bad)).as(bad).isInstanceOf(SlurmUnavailableException.class);
        }
        assertThat(queries()).isEmpty();
    }

    @Test
    void an_answer_that_is_no_list_of_names_is_none() throws IOException {
        for (String says : List.of("exit 0", "exit 1", "echo 'a b'", "echo -x", "echo", "seq 1 4097")) {
            HostlistExpander names = names(says);
            assertThatThrownBy(() -> names.expand("h[1-4]")).as(says).isInstanceOf(SlurmUnavailableException.class);
        }
    }
}
