package org.cloister.host.tickets;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Fuzzes the reader of a line of high-water marks: each input is written again as the same line, or is no line. */
class HighWaterMarksFuzz {
    @FuzzTest(maxDuration = "60s")
    void reads_a_line(byte[] input) {
        String line = new String(input, StandardCharsets.ISO_8859_1);
        HighWaterMarks.parse(line).ifPresent(marks -> {
            if (!HighWaterMarks.parse(marks.line()).equals(Optional.of(marks))) {
                throw new IllegalStateException("written and read, it is another");
            }
        });
    }
}
