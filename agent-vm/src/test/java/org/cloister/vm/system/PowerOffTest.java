package org.cloister.vm.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.cloister.base.process.ProcessRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests how a VM powers off at once; the call that would end this machine is recorded instead. */
class PowerOffTest {
    @TempDir
    private Path folder;

    private PowerOff off(Path trigger) {
        return new PowerOff(
                ProcessRunner.withPrefix(List.of(
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
        off(trigger).forceNow();
        assertThat(trigger).hasContent("o");
        assertThat(folder.resolve("log")).doesNotExist();
    }

    @Test
    void where_the_kernel_does_not_take_it_it_goes_off_in_good_order() throws IOException {
        off(folder.resolve("none")).forceNow();
        assertThat(folder.resolve("log")).hasContent("systemctl --no-block poweroff\n");
        assertThat(folder.resolve("none")).doesNotExist();
    }
}
