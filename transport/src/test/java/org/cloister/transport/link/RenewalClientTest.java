package org.cloister.transport.link;

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
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.RenewalResult;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Renewal of a host whose relay changes the answers. */
class RenewalClientTest {
    private static final CertificateName HOST = new CertificateName("h1", "host", CertificateName.SITE);
    private static final Instant START = Instant.parse("2026-11-21T10:00:00Z");
    private static final Instant LATER = START.plus(Duration.ofHours(13));

    private final KeyPair site = pair();
    private final KeyPair host = pair();
    private final List<X509Certificate> kept = new ArrayList<>();

    @SuppressWarnings("NullAway.Init")
    private RenewalClient renewal;

    @BeforeEach
    void enrol() throws Exception {
        TlsCredential own = new TlsCredential(host.getPrivate(), List.of(x509(issue(site, HOST, host, START))));
        renewal = new RenewalClient(own, anchors(), kept::add, new Random(1));
    }

    private TrustAnchors anchors() throws IOException {
        return TrustAnchors.none().withSite(List.of(VerificationKey.of(site.getPublic())));
    }

    private static KeyPair pair() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(SignatureCurve.P256.standardName()));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] issue(KeyPair site, CertificateName name, KeyPair key, Instant now) throws IOException {
        return CertificateAuthority.ofSite(
                        SubjectPublicKey.of(VerificationKey.of(site.getPublic())),
                        SigningKey.of(site)::sign,
                        START,
                        Duration.ofDays(30),
                        new SecureRandom())
                .issue(name, SubjectPublicKey.of(VerificationKey.of(key.getPublic())), now, CertificateAuthority.LEAF);
    }

    private static X509Certificate x509(byte[] der) throws GeneralSecurityException {
        return (X509Certificate)
                CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
    }

    private void refused(byte[] certificate, String why) {
        refused(RenewalResult.granted(certificate), why);
    }

    private void refused(RenewalResult outcome, String why) {
        TlsCredential before = renewal.get();
        assertThatThrownBy(() -> renewal.acceptResult(outcome, LATER))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(why);
        assertThat(renewal.get()).isSameAs(before);
        assertThat(kept).isEmpty();
    }

    @Test
    void asks_after_half_of_its_life_with_what_the_desk_reads() throws Exception {
        assertThat(renewal.nextRequest(START.plus(Duration.ofMinutes(11 * 60 + 58))))
                .isEmpty();
        ByteString renewalRequest =
                renewal.nextRequest(LATER.plus(Duration.ofHours(1))).orElseThrow();
        EnrolmentRequest request = EnrolmentRequest.parse(renewalRequest.toByteArray());
        assertThat(request.request().name()).isEqualTo(HOST);
        assertThat(request.request().key()).isEqualTo(VerificationKey.of(host.getPublic()));
        assertThat(EnrolmentRequest.renewal(request.request()).json()).isEqualTo(renewalRequest.toByteArray());
        assertThat(renewal.nextRequest(LATER.plus(Duration.ofHours(1))))
                .as("one at a time")
                .isEmpty();
    }

    @Test
    void a_request_for_the_longest_name_is_read_too() throws Exception {
        CertificateName longest = new CertificateName("h".repeat(63), "host", CertificateName.SITE);
        byte[] request = org.cloister.protocol.identity.RenewalRequest.make(longest, SigningKey.of(host));
        assertThat(EnrolmentRequest.parse(request).request().name()).isEqualTo(longest);
        assertThat(request.length).isLessThan(ProtocolLimits.RENEWAL_REQUEST_BYTES);
    }

    @Test
    void takes_the_next_certificate_keeps_it_and_waits_for_half_of_its_life() throws Exception {
        byte[] fresh = issue(site, HOST, host, LATER);
        assertThat(renewal.acceptResult(RenewalResult.granted(fresh), LATER))
                .isEqualTo(LATER.plus(CertificateAuthority.LEAF));
        assertThat(renewal.get().chain()).containsExactly(x509(fresh)).isEqualTo(kept);
        assertThat(renewal.get().key()).isEqualTo(host.getPrivate());
        assertThat(renewal.nextRequestTime())
                .isBetween(LATER.plus(Duration.ofMinutes(719)), LATER.plus(Duration.ofHours(15)));
    }

    @Test
    void takes_no_answer_that_is_for_another_key_or_name_of_another_site_or_not_newer() throws Exception {
        refused(issue(site, HOST, pair(), LATER), "want the key");
        refused(issue(site, new CertificateName("h2", "host", CertificateName.SITE), host, LATER), "want the name");
        refused(issue(site, new CertificateName("h1", "relay", CertificateName.SITE), host, LATER), "refused (role)");
        refused(issue(pair(), HOST, host, LATER), "refused (issuer)");
        refused(issue(site, HOST, host, START), "want an end after");
        refused(issue(site, HOST, host, LATER.plus(Duration.ofHours(3))), "refused (time)");
        byte[] altered = issue(site, HOST, host, LATER);
        altered[altered.length - 3] ^= 1;
        refused(altered, "refused (issuer)");
        refused(new byte[] {0x30, 0}, "refused (certificate)");
        refused(RenewalResult.refused("revoked"), "refused (revoked)");
    }

    @Test
    void uses_no_certificate_that_could_not_be_kept() throws Exception {
        TlsCredential own = renewal.get();
        RenewalClient full = new RenewalClient(
                own,
                anchors(),
                certificate -> {
                    throw new IOException("no space left on device");
                },
                new Random(1));
        byte[] fresh = issue(site, HOST, host, LATER);
        assertThatThrownBy(() -> full.acceptResult(RenewalResult.granted(fresh), LATER))
                .hasMessage("no space left on device");
        assertThat(full.get()).isSameAs(own);
    }

    @Test
    void refusals_double_the_wait_to_half_an_hour_and_no_answer_is_asked_again() {
        Instant now = LATER.plus(Duration.ofHours(1));
        assertThat(renewal.nextRequest(now)).isPresent();
        assertThat(renewal.nextRequestTime()).isBetween(now.plusSeconds(90), now.plusSeconds(91));
        long[] atMost = {61, 121, 241, 481, 961, 1803, 1803, 1803};
        for (long seconds : atMost) {
            Instant at = now;
            assertThatThrownBy(() -> renewal.acceptResult(RenewalResult.refused("no-desk"), at));
            assertThat(renewal.nextRequestTime()).isBetween(now.plusSeconds(seconds / 2 - 1), now.plusSeconds(seconds));
            now = renewal.nextRequestTime();
            assertThat(renewal.nextRequest(now)).isPresent();
        }
    }

    @Test
    void a_persons_certificate_is_none_to_renew_here() throws Exception {
        CertificateName name = new CertificateName("ca", CertificateRole.DESK.toString(), CertificateName.SITE);
        TlsCredential authority = new TlsCredential(host.getPrivate(), List.of(x509(issue(site, name, host, START))));
        assertThatThrownBy(() -> new RenewalClient(authority, anchors(), kept::add, new Random(1)))
                .hasMessageContaining("want one of a host or relay");
    }
}
