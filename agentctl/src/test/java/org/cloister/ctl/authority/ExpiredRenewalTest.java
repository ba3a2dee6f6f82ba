package org.cloister.ctl.authority;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRequest;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.cloister.protocol.identity.EnrolmentToken;
import org.cloister.protocol.identity.KeySamples;
import org.cloister.protocol.identity.ValidityPeriod;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests for renewal that a relay forwards for a host whose certificate has expired. */
class ExpiredRenewalTest {
    private static final CertificateName HOST = new CertificateName("h1", "host", CertificateName.SITE);

    private final Instant start = Instant.parse("2026-11-21T10:00:00Z");
    private final Instant last = start.plus(CertificateAuthority.LEAF).plus(ValidityPeriod.RENEWABLE);
    private final SigningKey cas = KeySamples.signing(SignatureCurve.P256);
    private final SigningKey own = KeySamples.signing(SignatureCurve.P256);
    private final EnrolmentToken.NewToken made = EnrolmentToken.make(new SecureRandom());

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init")
    private RegistrationAuthority authority;

    ExpiredRenewalTest() throws Exception {}

    @BeforeEach
    void enrol() throws IOException {
        CertificateAuthority site = CertificateAuthority.ofSite(
                KeySamples.subject(cas), cas::sign, start, Duration.ofDays(3000), new SecureRandom());
        authority = new RegistrationAuthority(site, new EnrolmentFileStore(folder));
        authority.open(HOST, made.publicHalf(), start, Duration.ofHours(1));
        authority.answer(EnrolmentRequest.first(CertificateRequest.make(HOST, own), made.token()), start);
    }

    private static EnrolmentRequest renewal(SigningKey key) throws IOException {
        return EnrolmentRequest.renewal(CertificateRequest.make(HOST, key));
    }

    @Test
    void it_is_answered_for_ninety_days_and_later_only_from_a_file() throws IOException {
        assertThatThrownBy(() -> authority.renew(renewal(own), last.plusSeconds(1)))
                .hasMessageContaining("renewal of h1.host.site.cloister.internal refused (expired)")
                .hasMessageContaining("agentctl site issue");
        assertThat(authority.renew(renewal(own), last)).isNotEmpty();
        Instant much = last.plus(ValidityPeriod.RENEWABLE).plus(Duration.ofDays(2));
        assertThatThrownBy(() -> authority.renew(renewal(own), much)).hasMessageContaining("refused (expired)");
        assertThat(authority.answer(renewal(own), much)).isNotEmpty();
        assertThat(authority.renew(renewal(own), much.plusSeconds(1))).isNotEmpty();
    }

    @Test
    void another_key_and_a_revoked_name_are_refused_as_ever() throws IOException {
        SigningKey other = KeySamples.signing(SignatureCurve.P256);
        assertThatThrownBy(() -> authority.renew(renewal(other), last)).hasMessageContaining("refused (proof)");
        authority.revoke(HOST, "stolen", start.plusSeconds(9));
        assertThatThrownBy(() -> authority.renew(renewal(own), last)).hasMessageContaining("refused (revoked)");
    }
}
