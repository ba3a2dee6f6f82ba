package org.cloister.luks.volume;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Lines of device-mapper's table, as a kernel has written them; asking the kernel is tried in a guest. */
class DeviceMapperTableTest {
    private static final String UUID = "b8f26b07-4c72-4cb3-8844-0c15179a1c71";
    private static final String LINE =
            "aes-xts-plain64 :64:logon:cryptsetup:" + UUID + "-d0 0 254:16 32768 1 sector_size:4096";
    private static final ExpectedMapping FORM = new ExpectedMapping(UUID, VolumeIntegrity.NONE, Path.of("/dev/vdb"), 0);

    private static Optional<LuksHeaderForm.Difference> difference(DeviceMapperTable table) {
        return FORM.difference(table, "254:16", 65_541);
    }

    private static List<String> words(String line) {
        return DeviceMapperTable.words((line + "\0rest").getBytes(StandardCharsets.ISO_8859_1), true);
    }

    private static DeviceMapperTable table(String line) {
        return new DeviceMapperTable(false, 1, "crypt", 0, 32_768, words(line));
    }

    @Test
    void what_the_header_describes_is_taken() {
        assertThat(difference(table(LINE))).isEmpty();
        ExpectedMapping discards = new ExpectedMapping(
                UUID, VolumeIntegrity.NONE, Path.of("/dev/vdb"), LibCryptsetup.CRYPT_ACTIVATE_ALLOW_DISCARDS);
        String line = LINE.replace(" 1 sector", " 2 allow_discards sector");
        assertThat(discards.difference(table(line), "254:16", 65_536)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            aes-xts-plain64  | cipher_null-ecb   | word 0 aes-xts-plain64
            aes-xts-plain64  | aes-ecb           | word 0 aes-xts-plain64
            ' 0 254'         | ' 8 254'          | word 2 0
            254:16           | 254:32            | word 3 254:16
            32768            | 0                 | word 4 32768
            ' 1 sector'      | ' 2 allow_discards sector' | options [sector_size:4096]
            sector_size:4096 | sector_size:512   | options [sector_size:4096]
            0c15179a1c71-d0  | 0c15179a1c71-d1   | word 1
            """)
    void whatever_differs_is_named(String part, String forged, String named) {
        Optional<LuksHeaderForm.Difference> difference = difference(table(LINE.replace(part, forged)));
        assertThat(difference)
                .hasValueSatisfying(found -> assertThat(found.expected()).startsWith("a mapping with " + named));
    }

    @Test
    void another_target_length_or_a_second_line_is_named() {
        List<String> words = words(LINE);
        assertThat(difference(new DeviceMapperTable(false, 2, "crypt", 0, 32_768, words)))
                .contains(new LuksHeaderForm.Difference("a mapping with targets 1", "2"));
        assertThat(difference(new DeviceMapperTable(false, 1, "linear", 0, 32_768, List.of("254:16", "32768"))))
                .contains(new LuksHeaderForm.Difference("a mapping with target crypt", "linear"));
        assertThat(difference(new DeviceMapperTable(false, 1, "crypt", 0, 8, words)))
                .contains(new LuksHeaderForm.Difference("a mapping with sectors 32768", "8"));
        assertThat(difference(new DeviceMapperTable(true, 1, "crypt", 0, 32_768, words)))
                .contains(new LuksHeaderForm.Difference("a mapping with read-only false", "true"));
        assertThat(difference(new DeviceMapperTable(false, 1, "crypt", 0, 32_768, List.of())))
                .contains(new LuksHeaderForm.Difference("a mapping with word 0 aes-xts-plain64", "nothing"));
    }

    @Test
    void a_key_that_stands_in_the_table_becomes_no_text_and_is_refused() {
        String line = "aes-xts-plain64 00112233445566778899aabbccddeeff 0 254:16 32768";
        assertThat(words(line)).containsExactly("aes-xts-plain64", "KEY", "0", "254:16", "32768");
        assertThat(difference(table(line)))
                .hasValueSatisfying(found -> assertThat(found.actual()).isEqualTo("KEY"));
    }
}
