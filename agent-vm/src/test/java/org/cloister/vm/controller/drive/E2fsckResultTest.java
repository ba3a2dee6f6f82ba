package org.cloister.vm.controller.drive;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.cloister.base.process.ProcessRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class E2fsckResultTest {
    private static final Path DEVICE = Path.of("/dev/mapper/drive");

    private static E2fsckResult result(int exit, String out, String err) {
        return new E2fsckResult(new ProcessRunner.Output(exit, out, err));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void no_errors_and_corrected_errors_pass(int exit) {
        assertThat(result(exit, "", "").isRepaired()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            2   | errors corrected and a reboot needed                   | with another image
            4   | errors left uncorrected                                | on a copy of it
            8   | operational error                                      | on a copy of it
            12  | errors left uncorrected, operational error             | on a copy of it
            16  | usage error                                            | with another image
            32  | cancelled                                              | with another image
            36  | errors left uncorrected, cancelled                     | with another image
            64  | unknown to e2fsck(8)                                   | with another image
            127 | not started                                            | with another image
            128 | shared library error                                   | with another image
            137 | killed by signal 9                                     | with another image
            """)
    void every_other_exit_status_is_refused_in_words(int exit, String meaning, String remedy) {
        E2fsckResult result = result(exit, "", "");
        assertThat(result.isRepaired()).isFalse();
        assertThat(result.explanation(DEVICE))
                .startsWith("e2fsck did not repair the file system on /dev/mapper/drive: exit status " + exit + ", "
                        + meaning + ": no output; ")
                .contains(remedy);
    }

    @Test
    void the_first_error_and_the_first_lines_of_output_are_quoted_and_bounded() {
        String out = "/dev/mapper/drive: \n\none\n  \u00e9two\n" + "3".repeat(500) + "\nfour\n";
        assertThat(result(4, out, "\n\n/dev/mapper/drive: first\nsecond\n").explanation(DEVICE))
                .contains("uncorrected: first / one / ?two / " + "3".repeat(120) + "; restore the drive")
                .doesNotContain("second", "four");
    }
}
