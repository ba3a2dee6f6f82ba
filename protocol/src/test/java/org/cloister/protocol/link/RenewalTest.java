package org.cloister.protocol.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.SubjectKey;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whatever a relay makes of the answers to a host. */
class RenewalTest {
    private static final Name HOST = new Name("h1", "host", Name.SITE);
    private static final Instant START = Instant.parse("2026-11-21T10:00:00Z");
    private static final Instant LATER = START.plus(Duration.ofHours(13));

    private final KeyPair site = pair();
    private final KeyPair host = pair();
    private final List<X509Certificate> kept = new ArrayList<>();

    @SuppressWarnings("NullAway.Init")
    private Renewal renewal;

    @BeforeEach
    void enrol() throws Exception {
        Credential own = new Credential(host.getPrivate(), List.of(x509(issue(site, HOST, host, START))));
        renewal = new Renewal(own, anchors(), kept::add, new Random(1));
    }

    private Anchors anchors() throws IOException {
        return Anchors.none().withSite(List.of(VerificationKey.of(site.getPublic())));
    }

    private static KeyPair pair() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(Curve.P256.standardName()));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] issue(KeyPair site, Name name, KeyPair key, Instant now) throws IOException {
        return Authority.ofSite(
                        SubjectKey.of(VerificationKey.of(site.getPublic())),
                        SigningKey.of(site)::sign,
                        START,
                        Duration.ofDays(30),
                        new SecureRandom())
                .issue(name, SubjectKey.of(VerificationKey.of(key.getPublic())), now, Authority.LEAF);
    }

    private static X509Certificate x509(byte[] der) throws GeneralSecurityException {
        return (X509Certificate)
                CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
    }

    private void refused(byte[] certificate, String why) {
        refused(RenewalOutcome.granted(certificate), why);
    }

    private void refused(RenewalOutcome outcome, String why) {
        Credential before = renewal.get();
        assertThatThrownBy(() -> renewal.answered(outcome, LATER))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(why);
        assertThat(renewal.get()).isSameAs(before);
        assertThat(kept).isEmpty();
    }

    @Test
    void asks_after_half_of_its_life_with_what_the_desk_reads() throws Exception {
        assertThat(renewal.ask(START.plus(Duration.ofMinutes(11 * 60 + 58)))).isEmpty();
        ByteString asked = renewal.ask(LATER.plus(Duration.ofHours(1))).orElseThrow();
        EnrolmentRequest request = EnrolmentRequest.parse(asked.toByteArray());
        assertThat(request.request().name()).isEqualTo(HOST);
        assertThat(request.request().key()).isEqualTo(VerificationKey.of(host.getPublic()));
        assertThat(EnrolmentRequest.renewal(request.request()).json()).isEqualTo(asked.toByteArray());
        assertThat(renewal.ask(LATER.plus(Duration.ofHours(1))))
                .as("one at a time")
                .isEmpty();
    }

    @Test
    void a_request_for_the_longest_name_is_read_too() throws Exception {
        Name longest = new Name("h".repeat(63), "host", Name.SITE);
        byte[] request = org.cloister.protocol.identity.RenewalRequest.make(longest, SigningKey.of(host));
        assertThat(EnrolmentRequest.parse(request).request().name()).isEqualTo(longest);
        assertThat(request.length).isLessThan(LinkLimits.RENEWAL_REQUEST_BYTES);
    }

    @Test
    void takes_the_next_certificate_keeps_it_and_waits_for_half_of_its_life() throws Exception {
        byte[] fresh = issue(site, HOST, host, LATER);
        assertThat(renewal.answered(RenewalOutcome.granted(fresh), LATER)).isEqualTo(LATER.plus(Authority.LEAF));
        assertThat(renewal.get().chain()).containsExactly(x509(fresh)).isEqualTo(kept);
        assertThat(renewal.get().key()).isEqualTo(host.getPrivate());
        assertThat(renewal.next()).isBetween(LATER.plus(Duration.ofMinutes(719)), LATER.plus(Duration.ofHours(15)));
    }

    @Test
    void takes_no_answer_that_is_for_another_key_or_name_of_another_site_or_not_newer() throws Exception {
        refused(issue(site, HOST, pair(), LATER), "want the key");
        refused(issue(site, new Name("h2", "host", Name.SITE), host, LATER), "want the name");
        refused(issue(site, new Name("h1", "relay", Name.SITE), host, LATER), "refused (role)");
        refused(issue(pair(), HOST, host, LATER), "refused (issuer)");
        refused(issue(site, HOST, host, START), "want an end after");
        refused(issue(site, HOST, host, LATER.plus(Duration.ofHours(3))), "refused (time)");
        byte[] altered = issue(site, HOST, host, LATER);
        altered[altered.length - 3] ^= 1;
        refused(altered, "refused (issuer)");
        refused(new byte[] {0x30, 0}, "refused (certificate)");
        refused(RenewalOutcome.refused("revoked"), "refused (revoked)");
    }

    @Test
    void uses_no_certificate_that_could_not_be_kept() throws Exception {
        Credential own = renewal.get();
        Renewal full = new Renewal(
                own,
                anchors(),
                certificate -> {
                    throw new IOException("no space left on device");
                },
                new Random(1));
        byte[] fresh = issue(site, HOST, host, LATER);
        assertThatThrownBy(() -> full.answered(RenewalOutcome.granted(fresh), LATER))
                .hasMessage("no space left on device");
        assertThat(full.get()).isSameAs(own);
    }

    @Test
    void refusals_double_the_wait_to_half_an_hour_and_no_answer_is_asked_again() {
        Instant now = LATER.plus(Duration.ofHours(1));
        assertThat(renewal.ask(now)).isPresent();
        assertThat(renewal.next()).isBetween(now.plusSeconds(90), now.plusSeconds(91));
        long[] atMost = {61, 121, 241, 481, 961, 1803, 1803, 1803};
        for (long seconds : atMost) {
            Instant at = now;
            assertThatThrownBy(() -> renewal.answered(RenewalOutcome.refused("no-desk"), at));
            assertThat(renewal.next()).isBetween(now.plusSeconds(seconds / 2 - 1), now.plusSeconds(seconds));
            now = renewal.next();
            assertThat(renewal.ask(now)).isPresent();
        }
    }

    @Test
    void a_persons_certificate_is_none_to_renew_here() throws Exception {
        Credential desk = new DeskCredential(
                        Authority.ofSite(
                                SubjectKey.of(VerificationKey.of(site.getPublic())),
                                SigningKey.of(site)::sign,
                                START,
                                Duration.ofDays(30),
                                new SecureRandom()),
                        () -> START)
                .get();
        assertThatThrownBy(() -> new Renewal(desk, anchors(), kept::add, new Random(1)))
                .hasMessageContaining("want one of a host or relay");
    }
}
