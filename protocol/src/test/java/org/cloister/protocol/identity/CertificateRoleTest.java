package org.cloister.protocol.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.security.SecureRandom;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.junit.jupiter.api.Test;

/** Certificates of the role {@code join}: their lifetime, and the verifiers that accept them. */
class CertificateRoleTest {
    private static final CertificateName HOLDER = new CertificateName("h1", "host", CertificateName.SITE).forJoining();
    private static final Duration WEEK = Duration.ofDays(7);

    private final Instant now = Instant.parse("2026-11-21T10:00:00Z");
    private final SigningKey cas = KeySamples.signing(SignatureCurve.P256);
    private final SigningKey token = KeySamples.signing(SignatureCurve.P256);
    private final CertificateAuthority site = CertificateAuthority.ofSite(
            KeySamples.subject(cas), cas::sign, now, Duration.ofDays(3000), new SecureRandom());

    CertificateRoleTest() throws Exception {}

    private TrustStore trustStore(Instant at) throws Exception {
        TrustStore store = new TrustStore(
                TrustAnchors.none().withSite(List.of(cas.verificationKey())),
                RevocationLists.none(),
                InstantSource.fixed(at));
        store.addRevocationList(site.revoke(List.of(), BigInteger.ONE, at, Duration.ofHours(1)));
        return store;
    }

    private CertificateChain chain(CertificateName name, Duration lifetime) throws Exception {
        return CertificateChain.parse(List.of(site.issue(name, KeySamples.subject(token), now, lifetime)));
    }

    private static List<X509Certificate> x509(byte[] der) throws Exception {
        return List.of((X509Certificate) java.security.cert.CertificateFactory.getInstance("X.509")
                .generateCertificate(new java.io.ByteArrayInputStream(der)));
    }

    @Test
    void only_a_relays_verifier_of_agents_accepts_a_joining_machine() throws Exception {
        List<X509Certificate> presented = x509(site.issue(HOLDER, KeySamples.subject(token), now, WEEK));
        TrustStore store = trustStore(now);
        assertThat(CertifiedPeerVerifier.forAgents(store).verify(presented).role())
                .isEqualTo(CertificateRole.JOIN);
        for (CertifiedPeerVerifier other : List.of(
                CertifiedPeerVerifier.forRelays(store),
                CertifiedPeerVerifier.forRenewal(store),
                CertifiedPeerVerifier.forCircuitEnds(store))) {
            assertThatThrownBy(() -> other.verify(presented)).isInstanceOf(CertificateException.class);
        }
        TrustStore late = trustStore(now.plus(WEEK).plusSeconds(1));
        assertThatThrownBy(() -> CertifiedPeerVerifier.forRenewal(late).verify(presented))
                .as("it is not renewed after its end")
                .hasMessageContaining("refused (role)");
    }

    @Test
    void it_may_live_as_long_as_a_token_and_others_a_day() throws Exception {
        TrustStore store = trustStore(now.plus(WEEK));
        assertThat(store.verify(chain(HOLDER, WEEK), List.of(CertificateRole.JOIN))
                        .notAfter())
                .isEqualTo(now.plus(WEEK));
        for (CertificateRole role : CertificateRole.values()) {
            assertThat(role.longestLife())
                    .as("%s", role)
                    .isEqualTo(role == CertificateRole.JOIN ? WEEK : Duration.ofHours(24));
        }
        CertificateName host = new CertificateName("h1", "host", CertificateName.SITE);
        assertThatThrownBy(() -> chain(host, WEEK)).isInstanceOf(CertificationRefusedException.class);
    }

    @Test
    void it_is_below_the_site_and_nobody_requests_it() throws Exception {
        assertThat(HOLDER).hasToString("h1.join.site.cloister.internal");
        assertThat(CertificateRole.JOIN.isEnrolled()).isFalse();
        assertThatThrownBy(() -> EnrolmentRequest.parse(EnrolmentRequest.renewal(CertificateRequest.make(HOLDER, token))
                        .json()))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining("want a host's or relay's");
    }
}
