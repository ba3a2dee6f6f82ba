package org.cloister.lab.conversation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.cloister.ctl.Cli;
import org.cloister.ctl.key.LoginFolder;
import org.cloister.lab.SampledScenario;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.relay.links.LoopbackRelay;
import org.cloister.transport.link.RecordCuttingProxy;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A person's device and the relay, each as it is: what opens and closes a project is taken once, wherever the device's link is cut, or
 * the device says that nothing was asked for.
 */
@Timeout(600)
@SuppressWarnings("NullAway") // what is missing shows as a failed test
class DeviceConversationTest {
    private static final Pattern OPENING = Pattern.compile("\"opening\" : \"([a-z2-7]{26})\"");

    @TempDir
    private Path folder;

    private LoopbackRelay relay;
    private RecordCuttingProxy wire;
    private Cli cli;
    private long opened;
    private long closed;

    @BeforeEach
    void setUp() throws Exception {
        relay = new LoopbackRelay(Files.createDirectory(folder.resolve("relay")));
        wire = new RecordCuttingProxy(relay.address());
        cli = new Cli(folder, "none");
        Files.write(folder.resolve("genesis"), relay.project().envelopes().get(0));
        Files.writeString(
                folder.resolve("site.pem"),
                "-----BEGIN CERTIFICATE-----\n"
                        + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(relay.siteCertificate())
                        + "\n-----END CERTIFICATE-----\n");
        Files.createDirectory(folder.resolve("login"));
        write(CertificateRole.DEVICE, relay.device());
        write(CertificateRole.OPENER, relay.opener());
    }

    private void write(CertificateRole role, CertificateName name) throws Exception {
        TlsCredential own = relay.credential(name);
        List<byte[]> chain = new ArrayList<>();
        for (X509Certificate each : own.chain()) {
            chain.add(each.getEncoded());
        }
        new LoginFolder(folder.resolve("login")).write(role, own.key(), chain);
    }

    @AfterEach
    void tearDown() throws IOException {
        cli.close();
        wire.close();
        relay.close();
    }

    private Cli.Result run(String... arguments) throws IOException {
        List<String> link = List.of(
                "--relay",
                "127.0.0.1:" + wire.address().getPort(),
                "--site",
                folder.resolve("site.pem").toString(),
                "--project",
                folder.resolve("genesis").toString(),
                "--login",
                folder.resolve("login").toString(),
                "--patience",
                "20",
                "--output",
                "json");
        return cli.run(Stream.concat(Stream.of(arguments), link.stream()).toArray(String[]::new));
    }

    /** @return the opening, if the device says that it was taken */
    private Optional<String> open(String as) throws IOException {
        Cli.Result result = run(
                "project",
                "open",
                "main",
                "--make",
                "1G",
                "--cpus",
                "1",
                "--memory",
                "512M",
                "--minutes",
                "10",
                "--no-wait",
                "--epoch-file",
                folder.resolve("epoch").toString());
        Matcher found = OPENING.matcher(result.out());
        boolean isAccepted = found.find();
        opened += isAccepted ? 1 : 0;
        assertThat(relay.count("opening.accepted")).as("%s: %s", as, result).isEqualTo(opened);
        if (!isAccepted) {
            assertThat(result.status()).as(as).isEqualTo(2);
            assertThat(result.err()).as(as).startsWith("agentctl: error: ");
            return Optional.empty();
        }
        assertThat(result.status()).as("%s: %s", as, result).isZero();
        return Optional.of(found.group(1));
    }

    private boolean close(String opening, String as) throws IOException {
        Cli.Result result = run("project", "close", opening);
        boolean isAccepted = result.status() == 0;
        closed += isAccepted ? 1 : 0;
        assertThat(relay.audited(opening).stream().filter("ticket.ended"::equals))
                .as("%s: %s", as, result)
                .hasSize(isAccepted ? 1 : 0);
        return isAccepted;
    }

    @Test
    void an_opening_is_taken_and_closed_with_both_as_they_are() throws Exception {
        assertThat(close(open("a sound wire").orElseThrow(), "a sound wire")).isTrue();
    }

    @Test
    @Tag("scenario")
    @Tag("boundary")
    @SampledScenario(value = 1, cases = 3)
    void wherever_the_link_is_cut_what_is_signed_is_taken_once_or_not_sent() throws Exception {
        wire.count();
        String first = open("a sound wire").orElseThrow();
        int opens = Math.max(wire.records(RecordCuttingProxy.From.AGENT), wire.records(RecordCuttingProxy.From.RELAY));
        wire.count();
        assertThat(close(first, "a sound wire")).isTrue();
        int closes = Math.max(wire.records(RecordCuttingProxy.From.AGENT), wire.records(RecordCuttingProxy.From.RELAY));
        for (RecordCuttingProxy.From from : RecordCuttingProxy.From.values()) {
            for (int record = 0; record < Math.max(opens, closes); record++) {
                String as = "record " + record + " of " + from;
                wire.arm(from, record);
                Optional<String> opening = open(as);
                wire.count();
                String running = opening.isPresent()
                        ? opening.get()
                        : open("after " + as).orElseThrow();
                wire.arm(from, record);
                boolean ended = close(running, as);
                wire.count();
                assertThat(ended || close(running, "after " + as)).isTrue();
            }
        }
        assertThat(opened)
                .as("of more than half the device heard that they were taken")
                .isGreaterThan(opens);
        assertThat(closed).isEqualTo(opened);
    }
}
