package org.cloister.luks.volume;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Whatever a header or a table has: it is refused with both values in few printable characters, or it is the one form. */
class HeaderFuzz {
    private static final String UUID = "b8f26b07-4c72-4cb3-8844-0c15179a1c71";
    private static final int LONGEST = 400;

    @FuzzTest(maxDuration = "60s")
    void reads_metadata(byte[] bytes) {
        HeaderFields fields;
        try {
            fields = HeaderFields.parse(new String(bytes, StandardCharsets.UTF_8));
        } catch (IOException e) {
            return;
        }
        for (Integrity integrity : Integrity.values()) {
            HeaderForm.difference(UUID, fields, integrity).ifPresentOrElse(HeaderFuzz::requireShort, () -> {
                if (!"\"aes-xts-plain64\"".equals(fields.values().get("segments.0.encryption"))
                        || fields.values().containsKey("segments.1.type")) {
                    throw new IllegalStateException("taken: " + fields);
                }
            });
        }
    }

    @FuzzTest(maxDuration = "60s")
    void reads_tables(byte[] bytes) {
        KernelTable table = new KernelTable(false, 1, "crypt", 0, 32_768, KernelTable.words(bytes, true));
        new MappedForm(UUID, Integrity.NONE, Path.of("/dev/vdb"), 0)
                .difference(table, "254:16", 65_536)
                .ifPresent(HeaderFuzz::requireShort);
    }

    private static void requireShort(HeaderForm.Difference difference) {
        if (difference.had().length() > LONGEST || !difference.had().matches("[ -~]*")) {
            throw new IllegalStateException(difference.toString());
        }
    }
}
