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
    @TempDir
    private Path folder;

    private PowerOff off(Path trigger) {
        return new PowerOff(
                Programs.behind(List.of(
                        "/bin/sh",
                        "-c",
                        "log=$1; shift; echo \"$*\" >>\"$log\"",
                        "sh",
                        folder.resolve("log").toString())),
                trigger);
    }

    @Test
    void a_kernel_that_takes_the_word_is_asked_alone() throws IOException {
        Path trigger = Files.createFile(folder.resolve("trigger"));
        off(trigger).atOnce();
        assertThat(trigger).hasContent("o");
        assertThat(folder.resolve("log")).doesNotExist();
    }

    @Test
    void where_the_kernel_does_not_take_it_it_goes_off_in_good_order() throws IOException {
        off(folder.resolve("none")).atOnce();
        assertThat(folder.resolve("log")).hasContent("systemctl --no-block poweroff\n");
        assertThat(folder.resolve("none")).doesNotExist();
    }
}
