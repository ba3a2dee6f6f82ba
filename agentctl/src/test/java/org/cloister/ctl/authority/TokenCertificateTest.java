package org.cloister.ctl.authority;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRequest;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertificationRefusedException;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.cloister.protocol.identity.EnrolmentToken;
import org.cloister.protocol.identity.KeySamples;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.RenewalResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The certificate of a token's key, and what the registration authority answers to a machine that joins with it. */
@Timeout(60)
class TokenCertificateTest {
    private static final CertificateName H1 = new CertificateName("h1", "host", CertificateName.SITE);
    private static final Duration HOUR = Duration.ofHours(1);

    private final Instant now = Instant.parse("2026-11-21T10:00:00Z");
    private final SecureRandom random = new SecureRandom();
    private final SigningKey cas = KeySamples.signing(SignatureCurve.P256);
    private final CertificateAuthority site =
            CertificateAuthority.ofSite(KeySamples.subject(cas), cas::sign, now, Duration.ofDays(3000), random);
    private final EnrolmentToken.NewToken made = EnrolmentToken.make(random);
    private final BlockingQueue<String> journal = new LinkedBlockingQueue<>();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init")
    private RegistrationAuthority authority;

    @SuppressWarnings("NullAway.Init")
    private CertificateRenewal renewal;

    TokenCertificateTest() throws Exception {}

    private final class ListSigner implements CertificateRenewal.Signer {
        @Override
        public byte[] certify(EnrolmentRequest request, Instant at) throws IOException {
            return authority.renew(request, at);
        }

        @Override
        public Optional<RevocationList> newestList() throws IOException {
            return Optional.of(signList(now));
        }

        @Override
        public boolean hasUnlistedRevocations(Instant at) {
            return false;
        }

        @Override
        public RevocationList signList(Instant at) throws IOException {
            return RevocationList.read(
                    authority.list(BigInteger.ONE, at, CertificateAuthority.LEAF), List.of(cas.verificationKey()));
        }

        @Override
        public Optional<RevocationList> readList(byte[] signed) {
            return Optional.empty();
        }
    }

    @BeforeEach
    void open() {
        authority = new RegistrationAuthority(site, new EnrolmentFileStore(folder));
        renewal = new CertificateRenewal(new ListSigner(), () -> now, journal::add);
    }

    @AfterEach
    void close() {
        renewal.close();
    }

    private CertifiedIdentity joining(byte[] certificate, Instant at) throws IOException {
        return CertificateChain.parse(List.of(certificate))
                .verifyUnlisted(
                        Set.of(CertificateRole.JOIN), TrustAnchors.none().withSite(List.of(cas.verificationKey())), at);
    }

    private RenewalResult answer(CertificateName from, EnrolmentRequest request) throws Exception {
        BlockingQueue<RenewalResult> results = new LinkedBlockingQueue<>();
        renewal.renew(new RelayMessage.RenewalRequested(1, from, ByteString.copyFrom(request.json())), results::add);
        RenewalResult result = results.poll(20, TimeUnit.SECONDS);
        assertThat(result).isNotNull();
        return result == null ? RenewalResult.refused(RenewalResult.FAILED) : result;
    }

    private static EnrolmentRequest proven(CertificateName name, SigningKey key, EnrolmentToken token)
            throws IOException {
        return EnrolmentRequest.first(CertificateRequest.make(name, key), token);
    }

    @Test
    void it_is_of_the_tokens_key_and_name_and_ends_with_the_token() throws Exception {
        byte[] certificate = authority.open(H1, made.publicHalf(), now, Duration.ofDays(7));
        CertifiedIdentity identity = joining(certificate, now.plus(Duration.ofDays(7)));
        assertThat(identity.name()).hasToString("h1.join.site.cloister.internal");
        assertThat(identity.key()).isEqualTo(made.publicHalf());
        assertThat(identity.notAfter()).isEqualTo(now.plus(Duration.ofDays(7)));
        assertThatThrownBy(
                        () -> joining(certificate, now.plus(Duration.ofDays(7)).plusSeconds(1)))
                .hasMessageContaining("refused (time)");
        assertThatThrownBy(() -> site.issue(
                        H1.forJoining(),
                        org.cloister.protocol.identity.SubjectPublicKey.of(made.publicHalf()),
                        now,
                        Duration.ofDays(7).plusSeconds(1)))
                .isInstanceOf(CertificationRefusedException.class);
    }

    @Test
    void it_is_revoked_with_its_token_whether_replaced_used_or_taken_back() throws Exception {
        BigInteger first =
                joining(authority.open(H1, made.publicHalf(), now, HOUR), now).serial();
        assertThat(authority.withdrawn(now)).isEmpty();
        EnrolmentToken.NewToken next = EnrolmentToken.make(random);
        BigInteger second =
                joining(authority.open(H1, next.publicHalf(), now, HOUR), now).serial();
        assertThat(authority.withdrawn(now)).containsExactly(first);
        authority.answer(proven(H1, KeySamples.signing(SignatureCurve.P256), next.token()), now);
        assertThat(authority.withdrawn(now)).as("a repeated step needs it").containsExactly(first);
        EnrolmentState used = new EnrolmentFileStore(folder).find(H1).orElseThrow();
        assertThat(EnrolmentFileStore.parse(EnrolmentFileStore.json(used))).isEqualTo(used);
        authority.revoke(H1, "lost", now);
        assertThat(authority.withdrawn(now)).contains(first, second).hasSize(4);
        Instant after = now.plus(HOUR).plus(Duration.ofMinutes(3));
        assertThat(authority.withdrawn(after)).as("expired").doesNotContain(first, second);
    }

    @Test
    void a_token_that_was_not_used_is_taken_back_with_it() throws Exception {
        BigInteger serial =
                joining(authority.open(H1, made.publicHalf(), now, HOUR), now).serial();
        authority.revoke(H1, "carried to the wrong place", now);
        assertThat(authority.withdrawn(now)).containsExactly(serial);
    }

    @Test
    void the_desk_answers_the_tokens_holder_by_the_table_of_files() throws Exception {
        CertificateName from = H1.forJoining();
        SigningKey key = KeySamples.signing(SignatureCurve.P256);
        EnrolmentRequest request = proven(H1, key, made.token());
        assertThat(answer(from, request).refused()).isEqualTo("unknown");
        authority.open(H1, made.publicHalf(), now, HOUR);
        EnrolmentToken other = EnrolmentToken.make(random).token();
        assertThat(answer(from, proven(H1, key, other)).refused()).isEqualTo("proof");
        RenewalResult first = answer(from, request);
        assertThat(first.isGranted()).isTrue();
        assertThat(answer(from, request)).as("repeated").isEqualTo(first);
        assertThat(answer(from, EnrolmentRequest.renewal(request.request())).refused())
                .as("without a proof, although the key is enrolled")
                .isEqualTo("proof");
        SigningKey thief = KeySamples.signing(SignatureCurve.P256);
        assertThat(answer(from, proven(H1, thief, made.token())).refused()).isEqualTo("copied");
        assertThat(answer(from, request).refused()).isEqualTo("revoked");
        assertThat(List.copyOf(journal)).anyMatch(line -> line.startsWith("ALARM: "));
        assertThat(List.copyOf(journal)).contains("enrolled: " + H1);
    }

    @Test
    void a_joining_name_asks_for_its_own_label_and_an_expired_token_for_nothing() throws Exception {
        CertificateName relay = new CertificateName("h1", "relay", CertificateName.SITE);
        CertificateName other = new CertificateName("h2", "host", CertificateName.SITE);
        SigningKey key = KeySamples.signing(SignatureCurve.P256);
        authority.open(other, made.publicHalf(), now, HOUR);
        assertThat(answer(H1.forJoining(), proven(other, key, made.token())).refused())
                .isEqualTo("name");
        assertThat(answer(H1, proven(other, key, made.token())).refused()).isEqualTo("name");
        authority.open(relay, made.publicHalf(), now.minus(HOUR), HOUR);
        assertThat(answer(relay.forJoining(), proven(relay, key, made.token())).refused())
                .isEqualTo("expired");
        authority.open(relay, made.publicHalf(), now, HOUR);
        assertThat(answer(relay.forJoining(), proven(relay, key, made.token())).isGranted())
                .as("a relay joins too")
                .isTrue();
    }
}
