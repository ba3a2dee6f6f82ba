package org.cloister.protocol.identity;

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
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EnrolmentTest {
    private static final Name H1 = new Name("h1", "host", Name.SITE);
    private static final Duration HOUR = Duration.ofHours(1);

    private final Instant now = Instant.parse("2026-11-21T10:00:00Z");
    private final SecureRandom random = new SecureRandom();
    private final SigningKey cas = Keys.signing(Curve.P256);
    private final Authority site = Authority.ofSite(Keys.subject(cas), cas::sign, now, Duration.ofDays(3000), random);
    private final SigningKey first = Keys.signing(Curve.P256);
    private final SigningKey second = Keys.signing(Curve.P256);
    private final EnrolmentToken.Made made = EnrolmentToken.make(random);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    EnrolmentTest() throws Exception {}

    private EnrolmentDesk desk() {
        return new EnrolmentDesk(site, new EnrolmentFiles(folder));
    }

    private EnrolmentDesk opened() throws IOException {
        EnrolmentDesk desk = desk();
        desk.open(H1, made.publicHalf(), now, HOUR);
        return desk;
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

    private static Clause refused(EnrolmentDesk desk, EnrolmentRequest request, Instant at) {
        Throwable thrown = catchThrowable(() -> desk.answer(request, at));
        assertThat(thrown).isInstanceOf(IdentityRefused.class);
        return ((IdentityRefused) thrown).clause();
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
        Identity host = Chain.parse(List.of(answer))
                .verify(
                        List.of(Role.HOST),
                        Anchors.none().withSite(List.of(cas.verificationKey())),
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
        assertThat(refused(desk(), asks(second), now.plusSeconds(9))).isEqualTo(Clause.COPIED);
        assertThat(listed(now.plusSeconds(9))).containsExactlyInAnyOrder(serial(answer), number(first));
        assertThat(refused(desk(), asks(first), now.plusSeconds(10))).isEqualTo(Clause.REVOKED);
        assertThat(refused(desk(), asks(second), now.plusSeconds(10))).isEqualTo(Clause.REVOKED);
    }

    @Test
    void who_has_not_the_token_can_neither_use_nor_burn_it() throws Exception {
        EnrolmentDesk desk = opened();
        EnrolmentToken other = EnrolmentToken.make(random).token();
        EnrolmentRequest guess = overWire(EnrolmentRequest.first(CertificateRequest.make(H1, second), other));
        assertThat(refused(desk, guess, now)).isEqualTo(Clause.PROOF);
        assertThat(refused(desk, renews(second), now)).isEqualTo(Clause.PROOF);
        byte[] answer = desk.answer(asks(first), now);
        assertThat(refused(desk, guess, now)).isEqualTo(Clause.PROOF);
        assertThat(refused(desk, renews(second), now)).isEqualTo(Clause.PROOF);
        assertThat(desk.answer(renews(first), now)).isEqualTo(answer);
    }

    @Test
    void a_relay_that_puts_its_own_key_under_a_proof_is_refused() throws Exception {
        String honest = new String(asks(first).json(), StandardCharsets.UTF_8);
        String own = new String(renews(second).json(), StandardCharsets.UTF_8);
        String request = own.replaceFirst(".*\"request\":\"([^\"]*)\".*", "$1");
        EnrolmentRequest swapped =
                EnrolmentRequest.parse(honest.replaceFirst("\"request\":\"[^\"]*\"", "\"request\":\"" + request + "\"")
                        .getBytes(StandardCharsets.UTF_8));
        assertThat(refused(opened(), swapped, now)).isEqualTo(Clause.PROOF);
    }

    @Test
    void a_token_is_for_one_name_and_one_time() throws Exception {
        EnrolmentDesk desk = opened();
        assertThat(refused(desk, asks(first), now.plus(HOUR))).isEqualTo(Clause.EXPIRED);
        Name other = new Name("h2", "host", Name.SITE);
        EnrolmentRequest stolen = overWire(EnrolmentRequest.first(CertificateRequest.make(other, first), made.token()));
        assertThat(refused(desk, stolen, now)).isEqualTo(Clause.UNKNOWN);
        assertThat(desk.answer(asks(first), now.plus(HOUR).minusSeconds(1))).isNotEmpty();
        for (Duration lifetime : List.of(Duration.ofMinutes(14), Duration.ofDays(8), Duration.ZERO)) {
            assertThatThrownBy(() -> desk.open(other, made.publicHalf(), now, lifetime))
                    .isInstanceOf(RefusedException.class);
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
        assertThat(refused(desk(), asks(second), late)).isEqualTo(Clause.COPIED);
        assertThat(list(late).revokes(first.verificationKey())).isTrue();
        Name other = new Name("h2", "host", Name.SITE);
        EnrolmentDesk desk = desk();
        desk.open(other, made.publicHalf(), late, HOUR);
        EnrolmentRequest again = overWire(EnrolmentRequest.first(CertificateRequest.make(other, first), made.token()));
        assertThat(refused(desk, again, late)).isEqualTo(Clause.REVOKED);
        desk.answer(overWire(EnrolmentRequest.first(CertificateRequest.make(other, second), made.token())), late);
        Instant later = late.plus(Duration.ofDays(3));
        desk.revoke(other, "stolen", later);
        assertThat(list(later).revokes(second.verificationKey())).isTrue();
        assertThat(list(later).revokes(first.verificationKey())).isTrue();
    }

    @Test
    void a_key_that_is_taken_back_before_its_first_certificate_is_named_and_read_again_from_its_file()
            throws Exception {
        opened();
        EnrolmentStore files = new EnrolmentFiles(folder);
        EnrolmentDesk dying = new EnrolmentDesk(site, new DyingStore(files, 1, true));
        assertThatThrownBy(() -> dying.answer(asks(first), now)).hasMessage("killed");
        desk().revoke(H1, "stolen", now);
        assertThat(list(now.plus(Duration.ofDays(399))).revokes(first.verificationKey()))
                .isTrue();
    }

    @Test
    void a_key_that_was_taken_back_is_enrolled_under_no_name() throws Exception {
        opened().answer(asks(first), now);
        desk().revoke(H1, "stolen", now);
        EnrolmentDesk again = opened();
        assertThat(refused(again, asks(first), now)).isEqualTo(Clause.REVOKED);
        Name other = new Name("h2", "host", Name.SITE);
        again.open(other, made.publicHalf(), now, HOUR);
        assertThat(refused(
                        again,
                        overWire(EnrolmentRequest.first(CertificateRequest.make(other, first), made.token())),
                        now))
                .isEqualTo(Clause.REVOKED);
        assertThat(again.answer(asks(second), now)).as("nothing was burnt").isNotEmpty();
    }

    @Test
    void a_name_enrolled_again_does_not_take_its_old_certificates_off_the_list() throws Exception {
        byte[] old = opened().answer(asks(first), now);
        assertThatThrownBy(() -> opened()).isInstanceOf(RefusedException.class).hasMessageContaining("revoke it first");
        desk().revoke(H1, "replaced", now);
        EnrolmentDesk again = opened();
        assertThat(listed(now)).containsExactlyInAnyOrder(serial(old), number(first));
        byte[] fresh = again.answer(asks(second), now);
        assertThat(listed(now))
                .containsExactlyInAnyOrder(serial(old), number(first))
                .doesNotContain(serial(fresh));
        assertThat(refused(again, renews(first), now)).isEqualTo(Clause.PROOF);
    }

    /** Dies at the first, the second, ... write, before or after it. */
    private static final class DyingStore implements EnrolmentStore {
        private final EnrolmentStore files;
        private final boolean after;
        private int left;

        DyingStore(EnrolmentStore files, int left, boolean after) {
            this.files = files;
            this.left = left;
            this.after = after;
        }

        @Override
        public Optional<Enrolment> find(Name name) throws IOException {
            return files.find(name);
        }

        @Override
        public List<Enrolment> all() throws IOException {
            return files.all();
        }

        @Override
        public void put(Enrolment enrolment) throws IOException {
            left--;
            if (left == 0 && !after) {
                throw new IOException("killed");
            }
            files.put(enrolment);
            if (left == 0) {
                throw new IOException("killed");
            }
        }
    }

    @Test
    void killed_at_any_write_the_first_key_gets_a_certificate_and_no_second_key_does() throws Exception {
        List<String> ran = new ArrayList<>();
        for (int write = 1; write <= 2; write++) {
            for (boolean after : new boolean[] {false, true}) {
                try (Stream<Path> files = Files.list(folder)) {
                    for (Path file : files.toList()) {
                        Files.delete(file);
                    }
                }
                opened();
                EnrolmentDesk dying = new EnrolmentDesk(site, new DyingStore(new EnrolmentFiles(folder), write, after));
                assertThatThrownBy(() -> dying.answer(asks(first), now)).hasMessage("killed");
                byte[] answer = desk().answer(asks(first), now);
                assertThat(desk().answer(asks(first), now)).isEqualTo(answer);
                assertThat(refused(desk(), asks(second), now)).isEqualTo(Clause.COPIED);
                ran.add(write + " " + after);
            }
        }
        assertThat(ran).hasSize(4);
    }

    @Test
    void states_are_written_as_they_are_read_in_files_that_their_owner_alone_reads() throws Exception {
        opened().answer(asks(first), now);
        Enrolment used = new EnrolmentFiles(folder).find(H1).orElseThrow();
        desk().revoke(H1, "lost", now);
        Enrolment revoked = new EnrolmentFiles(folder).find(H1).orElseThrow();
        for (Enrolment each : List.of(used, revoked)) {
            assertThat(EnrolmentFiles.parse(EnrolmentFiles.json(each))).isEqualTo(each);
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
        assertThatThrownBy(() -> CertificateRequest.make(H1, Keys.signing(Curve.P384)))
                .hasMessageContaining("secp256r1");
        assertThatThrownBy(() -> CertificateRequest.make(new Name("h", "worker", Name.SITE), first))
                .isInstanceOf(MalformedException.class);
    }
}
