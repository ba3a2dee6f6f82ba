package org.cloister.ctl.site;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.Cli;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EnrolmentTokenFileTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init")
    private String text;

    @BeforeEach
    void setUp() throws IOException {
        try (Cli cli = new Cli(folder, "correct horse battery staple")) {
            String site = folder.resolve("ca").toString();
            String token = folder.resolve("token").toString();
            cli.runWithSecret("site", "init", "--site", site);
            cli.runWithSecret(
                    "site",
                    "enrol",
                    "--site",
                    site,
                    "--role",
                    "host",
                    "--relay",
                    "a.example.org:1",
                    "--relay",
                    "[::1]:65535",
                    "--token",
                    token,
                    "h1");
        }
        text = Files.readString(folder.resolve("token"));
    }

    private static EnrolmentTokenFile parse(String text) throws IOException {
        return EnrolmentTokenFile.parse(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    @Test
    void what_is_parsed_is_written_as_the_same_bytes() throws IOException {
        try (EnrolmentTokenFile file = parse(text)) {
            assertThat(file.text()).isEqualTo(text.getBytes(StandardCharsets.US_ASCII));
            assertThat(file.name()).hasToString("h1.host.site.cloister.internal");
            assertThat(file.relays()).containsExactly("a.example.org:1", "[::1]:65535");
        }
    }

    @Test
    void no_part_of_it_is_accepted() {
        byte[] whole = text.getBytes(StandardCharsets.US_ASCII);
        for (int length = 0; length < whole.length; length++) {
            byte[] part = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> EnrolmentTokenFile.parse(part))
                    .as("first %s bytes", length)
                    .isInstanceOf(MalformedException.class);
        }
    }

    @Test
    void another_line_name_address_or_end_is_refused() {
        assertThatThrownBy(() -> parse(text.replace("relay=a", "odd=a"))).hasMessageContaining("have another");
        assertThatThrownBy(() -> parse(text.replace("name=h1", "name=h1.x"))).hasMessageContaining("name: want ID");
        assertThatThrownBy(() -> parse(text.replace("org:1\n", "org:0\n"))).hasMessageContaining("want HOST:PORT");
        assertThatThrownBy(() -> parse(text.replace("org:1\n", "org:65536\n"))).hasMessageContaining("want HOST:PORT");
        assertThatThrownBy(() -> parse(text.replaceFirst("name=.*\n", ""))).hasMessageContaining("want one name");
        assertThatThrownBy(() -> parse(text.replace("token=", "relay=a:1\n".repeat(15) + "token=")))
                .hasMessageContaining("at most 16 relays");
        assertThatThrownBy(() -> parse(text + "\n")).hasMessageContaining("as the last lines");
        assertThatThrownBy(() -> parse(text.replace("cloister-join-1", "cloister-join-2")))
                .hasMessageContaining("cloister-join-1");
    }
}
