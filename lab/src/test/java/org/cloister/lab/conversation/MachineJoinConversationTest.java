package org.cloister.lab.conversation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.cloister.base.address.HostPort;
import org.cloister.ctl.Cli;
import org.cloister.ctl.authority.EnrolmentState;
import org.cloister.lab.Poll;
import org.cloister.transport.link.RecordCuttingProxy;
import org.cloister.transport.link.RecordCuttingProxy.From;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Hosts that join their site by one command: agentctl, the relay's process and the site's desk, each as it is. */
@Tag("boundary")
@Timeout(300)
@SuppressWarnings("NullAway") // JUnit sets the fields
class MachineJoinConversationTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    private EnrolmentSite site;

    @BeforeEach
    void start() throws IOException {
        site = new EnrolmentSite(Files.createDirectory(folder.resolve("site")));
    }

    @AfterEach
    void stop() throws IOException {
        site.close();
    }

    private static void requireFallback(Cli.Result result, String why) {
        assertThat(EnrolmentSite.done(result)).contains("by files instead", why, "own.request", "agentctl site issue");
    }

    @Test
    void a_host_joins_by_one_command_and_a_repeated_one_changes_nothing() throws Exception {
        site.enrol("host", "h1", "127.0.0.1:1", site.relayText());
        site.serve();
        String output = EnrolmentSite.done(site.join("host", "h1", "h1"));
        assertThat(output).contains("own.pem", "enable --now agent-host").doesNotContain("site issue");
        assertThat(folder.resolve("site/h1/own.request")).doesNotExist();
        X509Certificate first = site.certificate("h1");
        assertThat(first.getSubjectAlternativeNames().toString()).contains("h1.host.site.cloister.internal");
        EnrolmentSite.done(site.join("host", "h1", "h1"));
        assertThat(site.certificate("h1")).isEqualTo(first);
        site.enrol("relay", "r2", site.relayText());
        EnrolmentSite.done(site.join("relay", "r2", "r2"));
        assertThat(site.certificate("r2").getSubjectAlternativeNames().toString())
                .contains("r2.relay.site");
        assertThat(site.stopServing())
                .contains("enrolled: h1.host.site.cloister.internal", "enrolled: r2.relay.site.cloister.internal")
                .doesNotContain("ALARM", "error");
    }

    @Test
    void without_a_desk_or_with_another_sites_relay_or_offline_it_writes_the_request_as_before() throws Exception {
        site.enrol("host", "h1", site.relayText());
        // The relay accepts the link by the list that its token brought: nobody delivered another.
        requireFallback(site.join("host", "h1", "h1"), "refused (no-desk)");
        String offline = EnrolmentSite.done(site.join("host", "h1", "h1", "--offline"));
        assertThat(offline).contains("own.request").doesNotContain("instead");
        site.enrol("host", "h2");
        requireFallback(site.join("host", "h2", "h2"), "the token names no relay");
        try (EnrolmentSite other = new EnrolmentSite(Files.createDirectory(folder.resolve("other")))) {
            other.serve();
            site.enrol("host", "h3", other.relayText());
            requireFallback(site.join("host", "h3", "h3"), "refused (issuer)");
            assertThat(other.stopServing()).doesNotContain("h3.host");
        }
        site.serve();
        awaitJoined("h1");
        assertThat(site.certificate("h1")).isNotNull();
    }

    /** The relay permits one link, and may not know yet that the former one has ended. */
    private void awaitJoined(String id) throws IOException {
        Path certificate = folder.resolve("site").resolve(id).resolve("own.pem");
        Poll.until(id + " joins", LIMIT, "read what it printed", () -> {
            System.out.println(EnrolmentSite.done(site.join("host", id, id)));
            return Files.exists(certificate);
        });
    }

    @Test
    void a_token_that_two_keys_use_is_an_alarm_and_its_holder_dials_no_more() throws Exception {
        site.enrol("host", "h1", site.relayText());
        site.serve();
        EnrolmentSite.done(site.join("host", "h1", "h1"));
        EnrolmentState used = site.state("h1").orElseThrow();
        Cli.Result thief = site.join("host", "thief", "h1");
        assertThat(thief.status()).isEqualTo(2);
        assertThat(thief.err()).contains("refused (copied)", "another key has used this token", "administrator");
        assertThat(folder.resolve("site/thief/own.pem")).doesNotExist();
        site.awaitListed(site.certificate("h1").getSerialNumber());
        site.awaitListed(used.tokenCertificate().orElseThrow().serial());
        requireFallback(site.join("host", "thief", "h1"), site.relayText());
        assertThat(site.stopServing()).contains("ALARM: ", "refused (copied)");
    }

    @Test
    void wherever_the_link_is_cut_a_repeated_command_joins_with_the_same_key() throws Exception {
        site.serve();
        try (RecordCuttingProxy wire = new RecordCuttingProxy(site.relay())) {
            site.enrol("host", "n", HostPort.text(wire.address()));
            wire.count();
            EnrolmentSite.done(site.join("host", "n", "n"));
            List<String> outcomes = new ArrayList<>();
            for (From from : From.values()) {
                int records = wire.records(from);
                assertThat(records).as("%s", from).isGreaterThan(3);
                for (int record = 0; record < records; record++) {
                    outcomes.add(joinedAfterCut(wire, from, record));
                }
                wire.count();
                EnrolmentSite.done(site.join("host", "n", "n"));
            }
            assertThat(outcomes).as("cut before and after the site answered").contains("first", "second");
        }
        assertThat(site.stopServing()).doesNotContain("ALARM", "refused");
    }

    /** Returns which of two commands brought the certificate. */
    private String joinedAfterCut(RecordCuttingProxy wire, From from, int record) throws IOException {
        String id = from.toString().toLowerCase(java.util.Locale.ROOT) + record;
        site.enrol("host", id, HostPort.text(wire.address()));
        wire.arm(from, record);
        EnrolmentSite.done(site.join("host", id, id));
        Path certificate = folder.resolve("site").resolve(id).resolve("own.pem");
        boolean first = Files.exists(certificate);
        assertThat(wire.hasCut() || first).as("%s", id).isTrue();
        wire.count();
        awaitJoined(id);
        assertThat(site.state(id)).as("%s", id).containsInstanceOf(EnrolmentState.Used.class);
        return first ? "first" : "second";
    }
}
