package org.cloister.host.tickets;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Whatever stands in a line of the book: what is written again as the same line, or nothing. */
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
