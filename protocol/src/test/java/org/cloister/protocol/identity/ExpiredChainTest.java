package org.cloister.protocol.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.math.BigInteger;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.junit.jupiter.api.Test;

/** An expired certificate proves an enrolled key for its renewal, and nothing else. */
class ExpiredChainTest {
    private static final CertificateName HOST = new CertificateName("h1", "host", CertificateName.SITE);
    private static final Duration DAY = Duration.ofHours(24);

    private final Instant start = Instant.parse("2026-11-21T10:00:00Z");
    private final SigningKey cas = KeySamples.signing(SignatureCurve.P256);
    private final SigningKey own = KeySamples.signing(SignatureCurve.P256);
    private final CertificateAuthority site = CertificateAuthority.ofSite(
            KeySamples.subject(cas), cas::sign, start, Duration.ofDays(3000), new SecureRandom());
    private final byte[] certificate = site.issue(HOST, KeySamples.subject(own), start, DAY);
    private final Instant end = start.plus(DAY);

    ExpiredChainTest() throws Exception {}

    private TrustStore trustStore(Instant now, BigInteger... revoked) throws IOException {
        TrustAnchors anchors = TrustAnchors.none().withSite(List.of(cas.verificationKey()));
        TrustStore store = new TrustStore(anchors, RevocationLists.none(), InstantSource.fixed(now));
        List<CertificateAuthority.Revocation> entries = List.of(revoked).stream()
                .map(serial -> new CertificateAuthority.Revocation(serial, now))
                .toList();
        store.addRevocationList(site.revoke(entries, BigInteger.ONE, now, DAY));
        return store;
    }

    private CertificateChain chain() throws IdentityRefusedException {
        return CertificateChain.parse(List.of(certificate));
    }

    private IdentityClause refused(TrustStore store) {
        Throwable thrown = catchThrowable(() -> store.verifyForRenewal(chain()));
        assertThat(thrown).isInstanceOf(IdentityRefusedException.class);
        return ((IdentityRefusedException) thrown).clause();
    }

    @Test
    void it_is_accepted_for_renewal_from_its_end_for_ninety_days() throws IOException {
        assertThat(refused(trustStore(end))).isEqualTo(IdentityClause.TIME);
        for (Instant now : List.of(end.plusSeconds(1), end.plus(ValidityPeriod.RENEWABLE))) {
            CertifiedIdentity expired = trustStore(now).verifyForRenewal(chain());
            assertThat(expired.name()).isEqualTo(HOST);
            assertThat(expired.notAfter()).isEqualTo(end);
        }
        assertThat(refused(trustStore(end.plus(ValidityPeriod.RENEWABLE).plusSeconds(1))))
                .isEqualTo(IdentityClause.TIME);
        assertThat(ValidityPeriod.RENEWABLE).isEqualTo(Duration.ofDays(90));
    }

    @Test
    void it_is_refused_everywhere_else() throws IOException {
        TrustStore store = trustStore(end.plusSeconds(1));
        assertThatThrownBy(() -> store.verify(chain(), List.of(CertificateRole.HOST)))
                .hasMessageContaining("refused (time)");
        assertThatThrownBy(() -> store.verifyUnlisted(chain(), List.of(CertificateRole.HOST)))
                .hasMessageContaining("refused (time)");
        CertifiedIdentity expired = store.verifyForRenewal(chain());
        assertThatThrownBy(() -> store.require(expired)).hasMessageContaining("refused (time)");
    }

    @Test
    void a_revoked_key_or_certificate_or_a_missing_list_refuses_it() throws IOException {
        Instant now = end.plus(Duration.ofDays(30));
        assertThat(refused(trustStore(now, RevocationList.numberOf(own.verificationKey()))))
                .isEqualTo(IdentityClause.REVOKED);
        CertifiedIdentity expired = trustStore(now).verifyForRenewal(chain());
        assertThat(refused(trustStore(now, expired.serial()))).isEqualTo(IdentityClause.REVOKED);
        TrustStore without = new TrustStore(
                TrustAnchors.none().withSite(List.of(cas.verificationKey())),
                RevocationLists.none(),
                InstantSource.fixed(now));
        assertThat(refused(without)).isEqualTo(IdentityClause.LIST);
    }

    @Test
    void no_other_role_and_no_other_site_is_accepted() throws IOException {
        Instant now = end.plusSeconds(1);
        CertificateName relay = new CertificateName("r1", "relay", CertificateName.SITE);
        byte[] relays = site.issue(relay, KeySamples.subject(own), start, DAY);
        assertThatThrownBy(() -> trustStore(now).verifyForRenewal(CertificateChain.parse(List.of(relays))))
                .hasMessageContaining("refused (role)");
        SigningKey other = KeySamples.signing(SignatureCurve.P256);
        CertificateAuthority elsewhere = CertificateAuthority.ofSite(
                KeySamples.subject(other), other::sign, start, Duration.ofDays(3000), new SecureRandom());
        byte[] forged = elsewhere.issue(HOST, KeySamples.subject(own), start, DAY);
        assertThatThrownBy(() -> trustStore(now).verifyForRenewal(CertificateChain.parse(List.of(forged))))
                .hasMessageContaining("refused (issuer)");
    }
}
