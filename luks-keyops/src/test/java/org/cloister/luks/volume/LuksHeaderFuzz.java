package org.cloister.luks.volume;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Any header or table is refused with both values in few printable characters, or has the one accepted form. */
class LuksHeaderFuzz {
    private static final String UUID = "b8f26b07-4c72-4cb3-8844-0c15179a1c71";
    private static final int LONGEST = 400;

    @FuzzTest(maxDuration = "60s")
    void reads_metadata(byte[] bytes) {
        LuksHeaderFields fields;
        try {
            fields = LuksHeaderFields.parse(new String(bytes, StandardCharsets.UTF_8));
        } catch (IOException e) {
            return;
        }
        for (VolumeIntegrity integrity : VolumeIntegrity.values()) {
            LuksHeaderForm.difference(UUID, fields, integrity).ifPresentOrElse(LuksHeaderFuzz::requireShort, () -> {
                if (!"\"aes-xts-plain64\"".equals(fields.values().get("segments.0.encryption"))
                        || fields.values().containsKey("segments.1.type")) {
                    throw new IllegalStateException("taken: " + fields);
                }
            });
        }
    }

    @FuzzTest(maxDuration = "60s")
    void reads_tables(byte[] bytes) {
        DeviceMapperTable table =
                new DeviceMapperTable(false, 1, "crypt", 0, 32_768, DeviceMapperTable.words(bytes, true));
        new ExpectedMapping(UUID, VolumeIntegrity.NONE, Path.of("/dev/vdb"), 0)
                .difference(table, "254:16", 65_536)
                .ifPresent(LuksHeaderFuzz::requireShort);
    }

    private static void requireShort(LuksHeaderForm.Difference difference) {
        if (difference.actual().length() > LONGEST || !difference.actual().matches("[ -~]*")) {
            throw new IllegalStateException(difference.toString());
        }
    }
}
