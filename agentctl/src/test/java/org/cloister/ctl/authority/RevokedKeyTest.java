package org.cloister.ctl.authority;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.math.BigInteger;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRequest;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.cloister.protocol.identity.EnrolmentToken;
import org.cloister.protocol.identity.IdentityClause;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.KeySamples;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A peer that is known only by its key is trusted while no list of the site names the key and each list is in force.
 */
class RevokedKeyTest {
    private static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");
    private static final Duration DAY = Duration.ofHours(24);

    private final SigningKey one = KeySamples.signing(SignatureCurve.P256);
    private final SigningKey other = KeySamples.signing(SignatureCurve.P256);
    private final SigningKey host = KeySamples.signing(SignatureCurve.P256);
    private final CertificateAuthority site = site(one);
    private Instant now = NOW;
    private final TrustStore trustStore = new TrustStore(
            TrustAnchors.none().withSite(List.of(one.verificationKey(), other.verificationKey())),
            RevocationLists.none(),
            () -> now);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    RevokedKeyTest() throws Exception {}

    private static CertificateAuthority site(SigningKey key) throws Exception {
        return CertificateAuthority.ofSite(
                KeySamples.subject(key), key::sign, NOW, Duration.ofDays(300), new SecureRandom());
    }

    private void list(CertificateAuthority of, int number) throws Exception {
        trustStore.addRevocationList(of.revoke(List.of(), BigInteger.valueOf(number), now, DAY));
    }

    private IdentityClause refused(VerificationKey key) {
        return catchThrowableOfType(IdentityRefusedException.class, () -> trustStore.requireKey(key))
                .clause();
    }

    @Test
    void a_list_of_each_of_the_sites_keys_must_be_in_force() throws Exception {
        assertThat(refused(host.verificationKey())).isEqualTo(IdentityClause.LIST);
        list(site, 1);
        assertThat(refused(host.verificationKey())).as("of one of two").isEqualTo(IdentityClause.LIST);
        list(site(other), 1);
        assertThatCode(() -> trustStore.requireKey(host.verificationKey())).doesNotThrowAnyException();
        now = NOW.plus(Duration.ofHours(25));
        list(site, 2);
        assertThat(refused(host.verificationKey())).as("the other's has ended").isEqualTo(IdentityClause.LIST);
    }

    @Test
    void a_key_that_a_list_names_is_refused_also_when_the_list_has_ended() throws Exception {
        list(site(other), 1);
        RegistrationAuthority authority = new RegistrationAuthority(site, new EnrolmentFileStore(folder));
        CertificateName name = new CertificateName("h1", "host", CertificateName.SITE);
        EnrolmentToken.NewToken token = EnrolmentToken.make(new SecureRandom());
        authority.open(name, token.publicHalf(), now, Duration.ofHours(1));
        authority.answer(EnrolmentRequest.first(CertificateRequest.make(name, host), token.token()), now);
        authority.revoke(name, "stolen", now);
        trustStore.addRevocationList(authority.list(BigInteger.ONE, now, DAY));
        assertThat(refused(host.verificationKey())).isEqualTo(IdentityClause.REVOKED);
        assertThatCode(() -> trustStore.requireKey(
                        KeySamples.signing(SignatureCurve.P256).verificationKey()))
                .doesNotThrowAnyException();
        now = NOW.plus(Duration.ofDays(2));
        assertThat(refused(host.verificationKey())).isEqualTo(IdentityClause.REVOKED);
    }
}
