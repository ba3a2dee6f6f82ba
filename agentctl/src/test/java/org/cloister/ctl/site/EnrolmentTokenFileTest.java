package org.cloister.ctl.site;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.Cli;
import org.cloister.protocol.identity.RevocationList;
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
        assertThatThrownBy(() -> parse(text.replace("cloister-join-2", "cloister-join-3")))
                .hasMessageContaining("cloister-join-2");
    }

    @Test
    void a_file_of_the_first_version_has_neither_a_joining_certificate_nor_a_list() throws IOException {
        String first = text.replaceFirst("token-certificate=.*\n", "").replace("cloister-join-2", "cloister-join-1");
        try (EnrolmentTokenFile file = parse(first)) {
            assertThat(file.tokenCertificate()).isEmpty();
            assertThat(file.list()).isEmpty();
            assertThat(file.relays()).hasSize(2);
            assertThat(file.text()).isEqualTo(first.getBytes(StandardCharsets.US_ASCII));
        }
        assertThatThrownBy(() -> parse(text.replace("cloister-join-2", "cloister-join-1")))
                .hasMessageContaining("have another");
        assertThatThrownBy(() -> parse(text.replaceFirst("token-certificate=.*\n", "")))
                .hasMessageContaining("1 token-certificate and at most one list, have 1, 2, 0 and 0");
    }

    @Test
    void a_joining_certificate_and_a_list_are_there_once_in_one_spelling_and_place() throws IOException {
        String certificate = text.lines()
                .filter(line -> line.startsWith("token-certificate="))
                .findFirst()
                .orElseThrow();
        String list = "list=AAAA\n";
        try (EnrolmentTokenFile file = parse(text.replace("token=", list + "token="))) {
            assertThat(file.list().toByteArray()).isEqualTo(new byte[3]);
            assertThat(file.tokenCertificate()).isNotEmpty();
        }
        assertThatThrownBy(() -> parse(text.replace(certificate, certificate + "\n" + certificate)))
                .hasMessageContaining("have 1, 2, 2 and 0");
        assertThatThrownBy(() -> parse(text.replace("token=", list + list + "token=")))
                .hasMessageContaining("have 1, 2, 1 and 2");
        assertThatThrownBy(() -> parse(text.replace("token-certificate=", list + "token-certificate=")))
                .hasMessageContaining("in the order");
        assertThatThrownBy(() -> parse(text.replace("token=", "list=AAA\ntoken=")))
                .hasMessageContaining("list: ");
        assertThatThrownBy(() -> parse(text.replace(certificate, "token-certificate=AAAA")))
                .hasMessageContaining("X.509");
        assertThatThrownBy(() -> parse(text.replace(certificate, certificate + "A".repeat(8000))))
                .hasMessageContaining("token-certificate: ");
        assertThatThrownBy(() -> parse(text.replace("name=h1", "name=" + "h".repeat(301))))
                .hasMessageContaining("have another");
    }

    @Test
    void a_relays_file_has_the_newest_list_of_the_site_and_a_hosts_has_none() throws IOException {
        try (EnrolmentTokenFile file = parse(text);
                Cli cli = new Cli(folder, "correct horse battery staple")) {
            assertThat(file.list()).isEmpty();
            cli.runWithSecret(
                    "site",
                    "enrol",
                    "--site",
                    folder.resolve("ca").toString(),
                    "--role",
                    "relay",
                    "--token",
                    folder.resolve("r1.token").toString(),
                    "r1");
        }
        try (EnrolmentTokenFile file = EnrolmentTokenFile.read(folder.resolve("r1.token"))) {
            assertThat(file.list().toByteArray()).isEqualTo(Files.readAllBytes(folder.resolve("ca/revocations.crl")));
            assertThat(RevocationList.read(file.list().toByteArray(), List.of(file.siteKey()))
                            .number())
                    .isEqualTo(BigInteger.TWO);
        }
    }
}
