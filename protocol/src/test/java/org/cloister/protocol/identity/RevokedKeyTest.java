package org.cloister.protocol.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.math.BigInteger;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who is known by a key alone is believed while no list of the site names the key and each of its lists is in force. */
class RevokedKeyTest {
    private static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");
    private static final Duration DAY = Duration.ofHours(24);

    private final SigningKey one = Keys.signing(Curve.P256);
    private final SigningKey other = Keys.signing(Curve.P256);
    private final SigningKey host = Keys.signing(Curve.P256);
    private final Authority site = site(one);
    private Instant now = NOW;
    private final Beliefs beliefs = new Beliefs(
            Anchors.none().withSite(List.of(one.verificationKey(), other.verificationKey())),
            RevocationLists.none(),
            () -> now);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    RevokedKeyTest() throws Exception {}

    private static Authority site(SigningKey key) throws Exception {
        return Authority.ofSite(Keys.subject(key), key::sign, NOW, Duration.ofDays(300), new SecureRandom());
    }

    private void list(Authority of, int number) throws Exception {
        beliefs.take(of.revoke(List.of(), BigInteger.valueOf(number), now, DAY));
    }

    private Clause refused(VerificationKey key) {
        return catchThrowableOfType(IdentityRefused.class, () -> beliefs.requireKey(key))
                .clause();
    }

    @Test
    void a_list_of_each_of_the_sites_keys_must_be_in_force() throws Exception {
        assertThat(refused(host.verificationKey())).isEqualTo(Clause.LIST);
        list(site, 1);
        assertThat(refused(host.verificationKey())).as("of one of two").isEqualTo(Clause.LIST);
        list(site(other), 1);
        assertThatCode(() -> beliefs.requireKey(host.verificationKey())).doesNotThrowAnyException();
        now = NOW.plus(Duration.ofHours(25));
        list(site, 2);
        assertThat(refused(host.verificationKey())).as("the other's has ended").isEqualTo(Clause.LIST);
    }

    @Test
    void a_key_that_a_list_names_is_refused_also_when_the_list_has_ended() throws Exception {
        list(site(other), 1);
        EnrolmentDesk desk = new EnrolmentDesk(site, new EnrolmentFiles(folder));
        Name name = new Name("h1", "host", Name.SITE);
        EnrolmentToken.Made token = EnrolmentToken.make(new SecureRandom());
        desk.open(name, token.publicHalf(), now, Duration.ofHours(1));
        desk.answer(EnrolmentRequest.first(CertificateRequest.make(name, host), token.token()), now);
        desk.revoke(name, "stolen", now);
        beliefs.take(desk.list(BigInteger.ONE, now, DAY));
        assertThat(refused(host.verificationKey())).isEqualTo(Clause.REVOKED);
        assertThatCode(() -> beliefs.requireKey(Keys.signing(Curve.P256).verificationKey()))
                .doesNotThrowAnyException();
        now = NOW.plus(Duration.ofDays(2));
        assertThat(refused(host.verificationKey())).isEqualTo(Clause.REVOKED);
    }
}
