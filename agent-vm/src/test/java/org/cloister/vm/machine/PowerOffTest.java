package org.cloister.vm.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How a VM goes off at once; what would end this machine is written down in its place. */
class PowerOffTest {
    private static final String CUT =
            "systemd-run --quiet --collect --wait halt --force --poweroff --no-sync --no-wtmp";

    @TempDir
    private Path folder;

    private PowerOff off(Path trigger, String failing) {
        return new PowerOff(
                Programs.behind(List.of(
                        "/bin/sh",
                        "-c",
                        "log=$1 failing=$2; shift 2; echo \"$*\" >>\"$log\"; [ \"$1\" != \"$failing\" ]",
                        "sh",
                        folder.resolve("log").toString(),
                        failing)),
                trigger);
    }

    private List<String> asked() throws IOException {
        return Files.readAllLines(folder.resolve("log"));
    }

    @Test
    void a_kernel_that_takes_the_word_is_asked_alone() throws IOException {
        Path trigger = Files.createFile(folder.resolve("trigger"));
        off(trigger, "").atOnce();
        assertThat(trigger).hasContent("o");
        assertThat(folder.resolve("log")).doesNotExist();
    }

    @Test
    void where_the_kernel_does_not_take_it_nothing_is_written_either() throws IOException {
        off(folder.resolve("none"), "").atOnce();
        assertThat(asked()).containsExactly(CUT);
    }

    @Test
    void only_where_nothing_else_is_left_it_goes_off_in_good_order() throws IOException {
        off(folder.resolve("none"), "systemd-run").atOnce();
        assertThat(asked()).containsExactly(CUT, "systemctl --no-block poweroff");
    }
}
