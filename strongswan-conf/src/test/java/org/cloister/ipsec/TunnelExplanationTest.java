package org.cloister.ipsec;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TunnelExplanationTest {
    private static final String NAME = "cloister-c";
    private static final IkeSa UP = new IkeSa(
            NAME, 1, "ESTABLISHED", true, 9, List.of(new IkeSa.ChildSa(NAME, "INSTALLED", "TUNNEL", 1, 2, 3)));

    @SuppressWarnings("NullAway.Init") // set before all tests
    private static DerCertificate certificate;

    @BeforeAll
    static void issue(@TempDir Path folder) throws IOException {
        TunnelIdentity self = TunnelIdentity.worker("w1", "a");
        certificate = new TestCa(folder, "a").issue(self).certificate();
    }

    private static String of(@Nullable String charon, @Nullable String guard, boolean loaded, IkeSa... sas) {
        return of(charon, guard, loaded, null, Instant.now(), sas);
    }

    private static String of(
            @Nullable String charon,
            @Nullable String guard,
            boolean loaded,
            @Nullable TunnelFailureCause cause,
            Instant now,
            IkeSa... sas) {
        TunnelExplanation explanation = TunnelExplanation.of(
                new TunnelExplanation.Facts(NAME, charon, guard, loaded, certificate, List.of(sas), cause, now));
        assertThat(explanation.up()).isEqualTo(List.of(sas).contains(UP) && charon == null);
        assertThat(explanation.remedy().isEmpty()).isEqualTo(explanation.why().equals("up"));
        return explanation.why();
    }

    @Test
    void says_the_first_thing_that_is_wrong() {
        assertThat(of("no such file", "none", false)).startsWith("charon cannot be asked: no such file");
        assertThat(of(null, "none", false)).startsWith("the guard is not in place");
        assertThat(of(null, null, false)).isEqualTo("charon has no connection cloister-c");
        assertThat(of(null, null, true)).startsWith("nobody has started it");
        assertThat(of(null, null, true, UP)).isEqualTo("up");
        assertThat(of(null, "none", true, UP)).startsWith("up, but unguarded");
    }

    @Test
    void says_what_the_state_of_the_connection_means() {
        assertThat(of(null, null, true, new IkeSa(NAME, 1, "CONNECTING", false, 0, List.of())))
                .isEqualTo("the peer does not answer");
        assertThat(of(null, null, true, new IkeSa(NAME, 1, "CONNECTING", true, 0, List.of())))
                .contains("has answered");
        assertThat(of(null, null, true, new IkeSa(NAME, 1, "ESTABLISHED", true, 5, List.of())))
                .contains("no tunnel with it");
    }

    @Test
    void says_what_the_log_said_and_before_that_what_the_clock_says() {
        Instant now = Instant.now();
        assertThat(of(null, null, true, TunnelFailureCause.PEER_REFUSED, now))
                .isEqualTo(TunnelFailureCause.PEER_REFUSED.words());
        assertThat(of(null, null, true, TunnelFailureCause.PEER_REFUSED, now.plus(Duration.ofDays(2))))
                .startsWith("our certificate expired at")
                .endsWith("d ago");
        assertThat(of(null, null, true, null, now.minus(Duration.ofDays(1))))
                .startsWith("our certificate is not valid before")
                .endsWith("in 23 h");
    }

    /** Lines as charon 5.9.8 wrote them. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "giving up after 4 retransmits | PEER_SILENT",
                "retransmit 1 of request with message ID 3 | PEER_SILENT",
                "received AUTHENTICATION_FAILED notify error | PEER_REFUSED",
                "received NO_PROPOSAL_CHOSEN notify error | PEER_UNPREPARED",
                "received TS_UNACCEPTABLE notify, no CHILD_SA built | PEER_SELECTORS",
                "subject certificate invalid (valid from Jan 01 00:00:00 2026 to Jan 02 00:00:00 2026) | EXPIRED",
                "certificate was revoked on Nov 21 10:00:00 UTC 2026, reason: unspecified | REVOKED",
                "no trusted ECDSA public key found for 'w1.worker.a.cloister.internal' | UNTRUSTED",
                "no private key found for 'w1.worker.a.cloister.internal' | NO_OWN_KEY",
                "ECDSA-256 signatures not acceptable | WRONG_KEY",
                "no matching peer config found | NO_CONFIG",
                "unable to install inbound and outbound IPsec SA (SAD) in kernel | NO_ESP",
                "error writing to socket: Operation not permitted | UNSENT",
                "received DELETE for IKE_SA cloister-c[1] | PEER_CLOSED",
            })
    void knows_what_charon_says(String line, TunnelFailureCause cause) {
        assertThat(TunnelFailureCause.of(line)).isEqualTo(cause);
    }

    @Test
    void takes_other_lines_for_nothing() {
        assertThat(TunnelFailureCause.of("sending packet: from 10.70.0.2[500] to 10.70.0.1[500] (253 bytes)"))
                .isNull();
    }
}
