package org.cloister.ctl.authority;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.bouncycastle.cert.X509CertificateHolder;
import org.cloister.base.encoding.MalformedException;
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
import org.cloister.protocol.identity.IdentityClause;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.KeySamples;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustAnchors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("boundary")
class RegistrationAuthorityTest {
    private static final CertificateName H1 = new CertificateName("h1", "host", CertificateName.SITE);
    private static final Duration HOUR = Duration.ofHours(1);

    private final Instant now = Instant.parse("2026-11-21T10:00:00Z");
    private final SecureRandom random = new SecureRandom();
    private final SigningKey cas = KeySamples.signing(SignatureCurve.P256);
    private final CertificateAuthority site =
            CertificateAuthority.ofSite(KeySamples.subject(cas), cas::sign, now, Duration.ofDays(3000), random);
    private final SigningKey first = KeySamples.signing(SignatureCurve.P256);
    private final SigningKey second = KeySamples.signing(SignatureCurve.P256);
    private final EnrolmentToken.NewToken made = EnrolmentToken.make(random);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    /** Serial number of the newest token's token certificate. */
    private BigInteger tokenCertificate = BigInteger.ZERO;

    RegistrationAuthorityTest() throws Exception {}

    private RegistrationAuthority desk() {
        return new RegistrationAuthority(site, new EnrolmentFileStore(folder));
    }

    private RegistrationAuthority opened() throws IOException {
        RegistrationAuthority authority = desk();
        tokenCertificate = serial(authority.open(H1, made.publicHalf(), now, HOUR));
        return authority;
    }

    private EnrolmentRequest asks(SigningKey key) throws IOException {
        return overWire(EnrolmentRequest.first(CertificateRequest.make(H1, key), made.token()));
    }

    private EnrolmentRequest renews(SigningKey key) throws IOException {
        return overWire(EnrolmentRequest.renewal(CertificateRequest.make(H1, key)));
    }

    private static EnrolmentRequest overWire(EnrolmentRequest request) throws IOException {
        return EnrolmentRequest.parse(request.json());
    }

    private static IdentityClause refused(RegistrationAuthority authority, EnrolmentRequest request, Instant at) {
        Throwable thrown = catchThrowable(() -> authority.answer(request, at));
        assertThat(thrown).isInstanceOf(IdentityRefusedException.class);
        return ((IdentityRefusedException) thrown).clause();
    }

    private RevocationList list(Instant at) throws IOException {
        return RevocationList.read(desk().list(BigInteger.ONE, at, HOUR), List.of(cas.verificationKey()));
    }

    private List<BigInteger> listed(Instant at) throws IOException {
        return List.copyOf(list(at).serials());
    }

    private static BigInteger number(SigningKey key) {
        return RevocationList.numberOf(key.verificationKey());
    }

    private static BigInteger serial(byte[] certificate) throws IOException {
        return new X509CertificateHolder(certificate).getSerialNumber();
    }

    @Test
    void the_key_that_used_a_token_first_retries_with_the_same_answer_also_after_the_tokens_time() throws Exception {
        byte[] answer = opened().answer(asks(first), now);
        assertThat(desk().answer(asks(first), now.plus(HOUR).plusSeconds(1))).isEqualTo(answer);
        assertThat(desk().answer(renews(first), now.plusSeconds(5))).isEqualTo(answer);
        CertifiedIdentity host = CertificateChain.parse(List.of(answer))
                .verify(
                        List.of(CertificateRole.HOST),
                        TrustAnchors.none().withSite(List.of(cas.verificationKey())),
                        RevocationLists.none()
                                .with(
                                        RevocationList.read(
                                                desk().list(BigInteger.ONE, now, HOUR), List.of(cas.verificationKey())),
                                        now),
                        now);
        assertThat(host.name()).isEqualTo(H1);
    }

    @Test
    void another_key_with_the_token_revokes_token_and_certificate_and_raises_an_alarm() throws Exception {
        byte[] answer = opened().answer(asks(first), now);
        assertThat(listed(now)).isEmpty();
        assertThat(refused(desk(), asks(second), now.plusSeconds(9))).isEqualTo(IdentityClause.COPIED);
        assertThat(listed(now.plusSeconds(9)))
                .containsExactlyInAnyOrder(serial(answer), number(first), tokenCertificate);
        assertThat(refused(desk(), asks(first), now.plusSeconds(10))).isEqualTo(IdentityClause.REVOKED);
        assertThat(refused(desk(), asks(second), now.plusSeconds(10))).isEqualTo(IdentityClause.REVOKED);
    }

    @Test
    void who_has_not_the_token_can_neither_use_nor_burn_it() throws Exception {
        RegistrationAuthority authority = opened();
        EnrolmentToken other = EnrolmentToken.make(random).token();
        EnrolmentRequest guess = overWire(EnrolmentRequest.first(CertificateRequest.make(H1, second), other));
        assertThat(refused(authority, guess, now)).isEqualTo(IdentityClause.PROOF);
        assertThat(refused(authority, renews(second), now)).isEqualTo(IdentityClause.PROOF);
        byte[] answer = authority.answer(asks(first), now);
        assertThat(refused(authority, guess, now)).isEqualTo(IdentityClause.PROOF);
        assertThat(refused(authority, renews(second), now)).isEqualTo(IdentityClause.PROOF);
        assertThat(authority.answer(renews(first), now)).isEqualTo(answer);
    }

    @Test
    void a_relay_that_puts_its_own_key_under_a_proof_is_refused() throws Exception {
        String honest = new String(asks(first).json(), StandardCharsets.UTF_8);
        String own = new String(renews(second).json(), StandardCharsets.UTF_8);
        String request = own.replaceFirst(".*\"request\":\"([^\"]*)\".*", "$1");
        EnrolmentRequest swapped =
                EnrolmentRequest.parse(honest.replaceFirst("\"request\":\"[^\"]*\"", "\"request\":\"" + request + "\"")
                        .getBytes(StandardCharsets.UTF_8));
        assertThat(refused(opened(), swapped, now)).isEqualTo(IdentityClause.PROOF);
    }

    @Test
    void a_token_is_for_one_name_and_one_time() throws Exception {
        RegistrationAuthority authority = opened();
        assertThat(refused(authority, asks(first), now.plus(HOUR))).isEqualTo(IdentityClause.EXPIRED);
        CertificateName other = new CertificateName("h2", "host", CertificateName.SITE);
        EnrolmentRequest stolen = overWire(EnrolmentRequest.first(CertificateRequest.make(other, first), made.token()));
        assertThat(refused(authority, stolen, now)).isEqualTo(IdentityClause.UNKNOWN);
        assertThat(authority.answer(asks(first), now.plus(HOUR).minusSeconds(1)))
                .isNotEmpty();
        for (Duration lifetime : List.of(Duration.ofMinutes(14), Duration.ofDays(8), Duration.ZERO)) {
            assertThatThrownBy(() -> authority.open(other, made.publicHalf(), now, lifetime))
                    .isInstanceOf(CertificationRefusedException.class);
        }
    }

    @Test
    void renews_after_half_a_life_and_a_revoked_name_takes_all_valid_certificates_along() throws Exception {
        byte[] one = opened().answer(asks(first), now);
        Instant later = now.plus(Duration.ofHours(13));
        byte[] two = desk().answer(renews(first), later);
        assertThat(two).isNotEqualTo(one);
        desk().revoke(H1, "stolen", later);
        assertThat(listed(later)).containsExactlyInAnyOrder(serial(one), serial(two), number(first));
        assertThat(listed(now.plus(Duration.ofHours(25)))).containsExactlyInAnyOrder(serial(two), number(first));
    }

    @Test
    void a_key_that_was_taken_back_is_named_for_longer_than_a_job_lasts_whichever_certificates_it_had()
            throws Exception {
        opened().answer(asks(first), now);
        assertThat(list(now).revokes(first.verificationKey())).isFalse();
        desk().revoke(H1, "stolen", now);
        desk().revoke(H1, "stolen again", now);
        Instant late = now.plus(Duration.ofDays(399));
        assertThat(listed(late)).containsExactly(number(first));
        assertThat(list(late).revokes(first.verificationKey())).isTrue();
        assertThat(list(late).revokes(second.verificationKey())).isFalse();
        assertThat(listed(now.plus(Duration.ofDays(401)))).isEmpty();
        assertThat(number(first).bitLength()).as("no serial number has as many").isEqualTo(159);
    }

    @Test
    void a_key_whose_last_certificate_has_ended_is_taken_back_too_by_an_alarm_and_by_hand() throws Exception {
        opened().answer(asks(first), now);
        Instant late = now.plus(Duration.ofDays(3));
        assertThat(refused(desk(), asks(second), late)).isEqualTo(IdentityClause.COPIED);
        assertThat(list(late).revokes(first.verificationKey())).isTrue();
        CertificateName other = new CertificateName("h2", "host", CertificateName.SITE);
        RegistrationAuthority authority = desk();
        authority.open(other, made.publicHalf(), late, HOUR);
        EnrolmentRequest again = overWire(EnrolmentRequest.first(CertificateRequest.make(other, first), made.token()));
        assertThat(refused(authority, again, late)).isEqualTo(IdentityClause.REVOKED);
        authority.answer(overWire(EnrolmentRequest.first(CertificateRequest.make(other, second), made.token())), late);
        Instant later = late.plus(Duration.ofDays(3));
        authority.revoke(other, "stolen", later);
        assertThat(list(later).revokes(second.verificationKey())).isTrue();
        assertThat(list(later).revokes(first.verificationKey())).isTrue();
    }

    @Test
    void a_key_that_is_taken_back_before_its_first_certificate_is_named_and_read_again_from_its_file()
            throws Exception {
        opened();
        EnrolmentStore files = new EnrolmentFileStore(folder);
        RegistrationAuthority dying = new RegistrationAuthority(site, new FailingStore(files, 1, true));
        assertThatThrownBy(() -> dying.answer(asks(first), now)).hasMessage("killed");
        desk().revoke(H1, "stolen", now);
        assertThat(list(now.plus(Duration.ofDays(399))).revokes(first.verificationKey()))
                .isTrue();
    }

    @Test
    void a_key_that_was_taken_back_is_enrolled_under_no_name() throws Exception {
        opened().answer(asks(first), now);
        desk().revoke(H1, "stolen", now);
        RegistrationAuthority again = opened();
        assertThat(refused(again, asks(first), now)).isEqualTo(IdentityClause.REVOKED);
        CertificateName other = new CertificateName("h2", "host", CertificateName.SITE);
        again.open(other, made.publicHalf(), now, HOUR);
        assertThat(refused(
                        again,
                        overWire(EnrolmentRequest.first(CertificateRequest.make(other, first), made.token())),
                        now))
                .isEqualTo(IdentityClause.REVOKED);
        assertThat(again.answer(asks(second), now)).as("nothing was burnt").isNotEmpty();
    }

    @Test
    void a_name_enrolled_again_does_not_take_its_old_certificates_off_the_list() throws Exception {
        byte[] old = opened().answer(asks(first), now);
        assertThatThrownBy(() -> opened())
                .isInstanceOf(CertificationRefusedException.class)
                .hasMessageContaining("revoke it first");
        desk().revoke(H1, "replaced", now);
        BigInteger former = tokenCertificate;
        RegistrationAuthority again = opened();
        assertThat(listed(now)).containsExactlyInAnyOrder(serial(old), number(first), former);
        byte[] fresh = again.answer(asks(second), now);
        assertThat(listed(now))
                .containsExactlyInAnyOrder(serial(old), number(first), former)
                .doesNotContain(serial(fresh));
        assertThat(refused(again, renews(first), now)).isEqualTo(IdentityClause.PROOF);
    }

    /** Dies at the first, the second, ... write, before or after it. */
    private static final class FailingStore implements EnrolmentStore {
        private final EnrolmentStore files;
        private final boolean after;
        private int left;

        FailingStore(EnrolmentStore files, int left, boolean after) {
            this.files = files;
            this.left = left;
            this.after = after;
        }

        @Override
        public Optional<EnrolmentState> find(CertificateName name) throws IOException {
            return files.find(name);
        }

        @Override
        public List<EnrolmentState> all() throws IOException {
            return files.all();
        }

        @Override
        public void store(EnrolmentState enrolment) throws IOException {
            left--;
            if (left == 0 && !after) {
                throw new IOException("killed");
            }
            files.store(enrolment);
            if (left == 0) {
                throw new IOException("killed");
            }
        }
    }

    @Test
    void killed_at_any_write_the_first_key_gets_a_certificate_and_no_second_key_does() throws Exception {
        List<String> order = new ArrayList<>();
        for (int write = 1; write <= 2; write++) {
            for (boolean after : new boolean[] {false, true}) {
                try (Stream<Path> files = Files.list(folder)) {
                    for (Path file : files.toList()) {
                        Files.delete(file);
                    }
                }
                opened();
                RegistrationAuthority dying =
                        new RegistrationAuthority(site, new FailingStore(new EnrolmentFileStore(folder), write, after));
                assertThatThrownBy(() -> dying.answer(asks(first), now)).hasMessage("killed");
                byte[] answer = desk().answer(asks(first), now);
                assertThat(desk().answer(asks(first), now)).isEqualTo(answer);
                assertThat(refused(desk(), asks(second), now)).isEqualTo(IdentityClause.COPIED);
                order.add(write + " " + after);
            }
        }
        assertThat(order).hasSize(4);
    }

    @Test
    void states_are_written_as_they_are_read_in_files_that_their_owner_alone_reads() throws Exception {
        opened().answer(asks(first), now);
        EnrolmentState used = new EnrolmentFileStore(folder).find(H1).orElseThrow();
        desk().revoke(H1, "lost", now);
        EnrolmentState revoked = new EnrolmentFileStore(folder).find(H1).orElseThrow();
        for (EnrolmentState each : List.of(used, revoked)) {
            assertThat(EnrolmentFileStore.parse(EnrolmentFileStore.json(each))).isEqualTo(each);
        }
        Path file = folder.resolve(H1 + ".json");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        Files.writeString(file, "{}");
        assertThatThrownBy(() -> desk().answer(renews(first), now))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining(file.toString());
    }

    @Test
    void the_token_is_in_no_file_message_or_text_of_the_CAs_machine() throws Exception {
        String secret =
                new String(made.token().text(), StandardCharsets.US_ASCII).substring("cloister-token-1:".length());
        opened().answer(asks(first), now);
        String kept = Files.readString(folder.resolve(H1 + ".json"));
        String sent = new String(asks(first).json(), StandardCharsets.UTF_8);
        assertThat(List.of(kept, sent, made.token().toString())).noneMatch(text -> text.contains(secret));
        byte[] wrong = made.token().text();
        wrong[40] = 'x';
        assertThatThrownBy(() -> EnrolmentToken.parse(wrong))
                .isInstanceOf(MalformedException.class)
                .satisfies(thrown -> assertThat(thrown.getMessage()).doesNotContain(secret.substring(30)));
    }

    @Test
    void a_closed_token_is_zeroes() throws Exception {
        EnrolmentToken token = EnrolmentToken.parse(made.token().text());
        token.close();
        byte[] text = token.text();
        assertThat(Arrays.copyOfRange(text, text.length - 64, text.length)).containsOnly('0');
    }

    @Test
    void a_request_is_for_one_name_of_its_role_and_signed_by_its_key() throws Exception {
        byte[] good = CertificateRequest.make(H1, first).bytes();
        for (int at : new int[] {0, 20, good.length - 1}) {
            byte[] bad = good.clone();
            bad[at] ^= 1;
            assertThatThrownBy(() -> CertificateRequest.parse(bad)).isInstanceOf(MalformedException.class);
        }
        assertThatThrownBy(() -> CertificateRequest.parse(Arrays.copyOf(good, good.length + 1)))
                .isInstanceOf(MalformedException.class);
        assertThatThrownBy(() -> CertificateRequest.make(H1, KeySamples.signing(SignatureCurve.P384)))
                .hasMessageContaining("secp256r1");
        assertThatThrownBy(
                        () -> CertificateRequest.make(new CertificateName("h", "worker", CertificateName.SITE), first))
                .isInstanceOf(MalformedException.class);
    }
}
