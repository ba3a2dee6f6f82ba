package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.cloister.ctl.profile.ProfileStore;
import org.cloister.preflight.machine.RecordedMachine;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class SiteCommandsTest {
    private static final String PASSPHRASE = "correct horse battery staple";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init")
    private Cli cli;

    @BeforeEach
    void open() throws IOException {
        cli = new Cli(folder, PASSPHRASE);
    }

    @AfterEach
    void close() throws IOException {
        cli.close();
    }

    private String at(String name) {
        return folder.resolve(name).toString();
    }

    private String out(Cli.Result result) {
        assertThat(result.err()).isEmpty();
        assertThat(result.status()).isZero();
        return result.out();
    }

    private void site() throws IOException {
        out(cli.runWithSecret("site", "init", "--site", at("ca")));
        out(cli.runWithSecret("site", "enrol", "--site", at("ca"), "--role", "host", "--token", at("token"), "h1"));
    }

    private void request(String key, String request) throws IOException {
        out(cli.run(
                "site",
                "request",
                "--role",
                "host",
                "--token",
                at("token"),
                "--machine-key",
                at(key),
                "--out",
                at(request),
                "h1"));
    }

    @Test
    void enrols_a_host_whose_certificate_openssl_takes_until_it_is_revoked() throws Exception {
        site();
        request("h1.key", "h1.req");
        out(cli.runWithSecret("site", "issue", "--site", at("ca"), at("h1.req")));
        String[] verify = {
            "openssl",
            "verify",
            "-x509_strict",
            "-crl_check",
            "-CAfile",
            at("ca/authority.pem"),
            "-CRLfile",
            at("ca/revocations.crl"),
            "-verify_hostname",
            "h1.host.site.cloister.internal",
            at("h1.req.pem")
        };
        assertThat(program(verify)).contains("OK");
        assertThat(out(cli.runWithSecret(
                        "site", "revoke", "-o", "json", "--site", at("ca"), "h1.host.site.cloister.internal")))
                .contains("\"number\" : \"2\"", "\"revoked\" : \"2\"");
        assertThat(program(verify)).contains("certificate revoked");
        Cli.Result again = cli.runWithSecret("site", "issue", "--site", at("ca"), at("h1.req"));
        assertThat(again.status()).isEqualTo(2);
        assertThat(again.err()).contains("refused (revoked)");
    }

    @Test
    void a_copied_token_is_an_alarm_and_signs_the_list_anew() throws Exception {
        site();
        request("h1.key", "h1.req");
        request("thief.key", "thief.req");
        out(cli.runWithSecret("site", "issue", "--site", at("ca"), at("h1.req")));
        Cli.Result thief = cli.runWithSecret("site", "issue", "--site", at("ca"), at("thief.req"));
        assertThat(thief.status()).isEqualTo(2);
        assertThat(thief.err()).contains("refused (copied)", "the token was copied");
        assertThat(folder.resolve("thief.req.pem")).doesNotExist();
        assertThat(program("openssl", "crl", "-in", at("ca/revocations.crl"), "-noout", "-text"))
                .contains("Serial Number:")
                .containsPattern("X509v3 CRL Number: *\\s*2");
    }

    @Test
    void a_list_that_failed_at_the_alarm_is_signed_by_the_next_issue() throws Exception {
        site();
        request("h1.key", "h1.req");
        request("thief.key", "thief.req");
        out(cli.runWithSecret("site", "issue", "--site", at("ca"), at("h1.req")));
        Path way = Files.createDirectories(folder.resolve("ca/revocations.crl.new/in-the-way"));
        assertThat(cli.runWithSecret("site", "issue", "--site", at("ca"), at("thief.req"))
                        .err())
                .contains("refused (copied)", "revocations.crl.new");
        Files.delete(way);
        Cli.Result again = cli.runWithSecret("site", "issue", "--site", at("ca"), at("thief.req"));
        assertThat(again.err()).contains("refused (revoked)");
        assertThat(program("openssl", "crl", "-in", at("ca/revocations.crl"), "-noout", "-text"))
                .contains("Serial Number:");
    }

    @Test
    void a_list_that_cannot_be_read_is_not_begun_anew() throws Exception {
        site();
        Path list = folder.resolve("ca/revocations.crl");
        Files.deleteIfExists(list);
        Files.createSymbolicLink(list, list);
        Cli.Result result = cli.runWithSecret("site", "revoke", "--site", at("ca"));
        assertThat(result.status()).isEqualTo(2);
        assertThat(result.err()).contains("revocations.crl");
        assertThat(list).isSymbolicLink();
    }

    @Test
    void secrets_lie_in_private_files_and_are_printed_nowhere() throws Exception {
        site();
        request("h1.key", "h1.req");
        List<Path> files;
        try (Stream<Path> all = Files.walk(folder)) {
            files = all.filter(Files::isRegularFile).toList();
        }
        String token = Files.readString(folder.resolve("token"))
                .replaceFirst("(?s).*cloister-token-1:(\\p{XDigit}{64}).*", "$1");
        for (Path file : files) {
            String text = Files.readString(file, StandardCharsets.ISO_8859_1);
            boolean own = file.endsWith("token");
            assertThat(text.contains(token)).as(file.toString()).isEqualTo(own);
            if (own || file.endsWith("key.json") || file.endsWith("h1.key")) {
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                        .as(file.toString())
                        .isEqualTo("rw-------");
            }
        }
        assertThat(Files.readString(folder.resolve("ca/key.json"))).contains("argon2id");
    }

    @Test
    void the_folder_is_the_units_by_default() throws IOException {
        Map<String, CommandLine> all = new Agentctl(
                        RecordedMachine.parse("program none\n"), new ProfileStore(folder, null))
                .commandLine()
                .getSubcommands();
        Map<String, CommandLine> commands =
                Objects.requireNonNull(all.get("site")).getSubcommands();
        for (String name : List.of("init", "enrol", "issue", "approve", "revoke", "serve")) {
            CommandLine.Model.OptionSpec option =
                    Objects.requireNonNull(commands.get(name)).getCommandSpec().findOption("--site");
            assertThat(option.required()).as(name).isFalse();
            assertThat(option.defaultValue()).as(name).isEqualTo("/var/lib/cloister/site");
        }
        assertThat(Path.of("../systemd/cloister-site-serve.service"))
                .content()
                .contains("\nStateDirectory=cloister/site\n");
    }

    @Test
    void folders_above_a_new_CA_are_made_and_only_the_CA_is_private() throws IOException {
        out(cli.runWithSecret("site", "init", "--site", at("lib/cloister/site")));
        assertThat(mode("lib")).isEqualTo("rwxr-xr-x");
        assertThat(mode("lib/cloister")).isEqualTo("rwxr-xr-x");
        assertThat(mode("lib/cloister/site")).isEqualTo("rwx------");
    }

    @Test
    void a_folder_above_a_new_CA_that_is_there_keeps_its_mode() throws IOException {
        Files.createDirectory(
                folder.resolve("own"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx--x---")));
        out(cli.runWithSecret("site", "init", "--site", at("own/site")));
        assertThat(mode("own")).isEqualTo("rwx--x---");
    }

    @Test
    void a_folder_without_a_CA_is_reported_with_what_to_do() throws IOException {
        assertThat(cli.runWithSecret("site", "revoke", "--site", at("none")).err())
                .contains(at("none") + ": there is no site's CA", "--site", "agentctl site init");
    }

    private String mode(String name) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve(name)));
    }

    @Test
    void another_passphrase_a_second_CA_and_a_wrong_role_are_refused() throws Exception {
        site();
        try (Cli wrong = new Cli(folder, "a different passphrase")) {
            Cli.Result result = wrong.runWithSecret("site", "revoke", "--site", at("ca"));
            assertThat(result.status()).isEqualTo(2);
            assertThat(result.err()).contains("type the passphrase again").doesNotContain("different");
        }
        assertThat(cli.runWithSecret("site", "init", "--site", at("ca")).err()).contains("name another");
        assertThat(cli.runWithSecret("site", "enrol", "--site", at("ca"), "--role", "worker", "--token", at("t2"), "w")
                        .err())
                .contains("want host or relay, have worker");
        assertThat(cli.runWithSecret(
                                "site",
                                "enrol",
                                "--site",
                                at("ca"),
                                "--role",
                                "host",
                                "--minutes",
                                "5",
                                "--token",
                                at("t3"),
                                "h3")
                        .err())
                .contains("15 min to 7 days");
        assertThat(folder.resolve("t3")).as("a token that enrols nobody").doesNotExist();
    }

    /** The slot of a fresh SoftHSM; surefire names its configuration in SOFTHSM2_CONF. */
    @Test
    void a_site_whose_key_a_token_holds_signs_with_it() throws Exception {
        Path conf = Path.of(System.getenv("SOFTHSM2_CONF"));
        Path module = Path.of("/usr/lib/softhsm/libsofthsm2.so");
        assertThat(module)
                .as("apt-get install softhsm2, as lab/packages has it")
                .exists();
        // Of its own each time: what an earlier run left would be in the first slot.
        Path tokens = Files.createTempDirectory(conf.getParent(), "tokens");
        Files.writeString(
                conf, "directories.tokendir = " + tokens + "\nobjectstore.backend = file\nlog.level = ERROR\n");
        program(
                "softhsm2-util",
                "--init-token",
                "--free",
                "--label",
                "site",
                "--so-pin",
                "12345678",
                "--pin",
                PASSPHRASE);
        makeKey(module);
        String[] key = {"--module", module.toString(), "--alias", "ca"};
        out(cli.runWithSecret("site", "init", "--site", at("hsm"), key[0], key[1], key[2], key[3]));
        assertThat(folder.resolve("hsm/key.json")).doesNotExist();
        assertThat(program(
                        "openssl",
                        "verify",
                        "-check_ss_sig",
                        "-CAfile",
                        at("hsm/authority.pem"),
                        at("hsm/authority.pem")))
                .contains("OK");
        try (Cli wrong = new Cli(folder, "0000000000000")) {
            assertThat(wrong.runWithSecret("site", "revoke", "--site", at("hsm"), key[0], key[1], key[2], "nobody")
                            .status())
                    .isEqualTo(2);
        }
    }

    private void makeKey(Path module) throws Exception {
        Path provider = folder.resolve("pkcs11.cfg");
        Files.writeString(provider, "name = cloister\nlibrary = " + module + "\nslotListIndex = 0\n");
        assertThat(program(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-keystore",
                        "NONE",
                        "-storetype",
                        "PKCS11",
                        "-providerClass",
                        "sun.security.pkcs11.SunPKCS11",
                        "-providerArg",
                        provider.toString(),
                        "-storepass",
                        PASSPHRASE,
                        "-alias",
                        "ca",
                        "-keyalg",
                        "EC",
                        "-groupname",
                        "secp256r1",
                        "-dname",
                        "CN=ca"))
                .doesNotContain("keytool error");
    }

    private static String program(String... argv) throws Exception {
        Process process = new ProcessBuilder(argv).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return output;
    }
}
