package org.cloister.ctl.authority;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.bouncycastle.cert.X509CertificateHolder;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRequest;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.cloister.protocol.identity.EnrolmentToken;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.RenewalResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The desk whose CA's key is on a token that somebody pulls out. */
@Timeout(60)
@SuppressWarnings("NullAway") // what is missing shows as a failed test
class CertificateRenewalTest {
    private static final CertificateName HOST = new CertificateName("h1", "host", CertificateName.SITE);
    private static final Instant START = Instant.parse("2026-11-21T10:00:00Z");

    private final BlockingQueue<String> journal = new LinkedBlockingQueue<>();
    private final AtomicReference<Instant> now = new AtomicReference<>(START);
    private final AtomicReference<RevocationList> newest = new AtomicReference<>();
    private final AtomicInteger failures = new AtomicInteger();
    private final SigningKey key = key();
    private final EnrolmentToken.NewToken token = EnrolmentToken.make(new SecureRandom());

    @TempDir
    private Path folder;

    private RegistrationAuthority enrolments;
    private CertificateRenewal renewal;

    CertificateRenewalTest() throws Exception {}

    private static SigningKey key() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(SignatureCurve.P256.standardName()));
        return SigningKey.of(generator.generateKeyPair());
    }

    private final class TestAuthority implements CertificateRenewal.Signer {
        @Override
        public byte[] certify(EnrolmentRequest request, Instant at) throws IOException {
            return enrolments.answer(request, at);
        }

        @Override
        public Optional<RevocationList> newestList() {
            return Optional.ofNullable(newest.get());
        }

        @Override
        public boolean hasUnlistedRevocations(Instant at) throws IOException {
            Set<BigInteger> listed = newestList().map(RevocationList::serials).orElse(Set.of());
            return !listed.containsAll(enrolments.withdrawn(at));
        }

        @Override
        public RevocationList signList(Instant at) throws IOException {
            if (failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new IllegalStateException("the token is gone");
            }
            BigInteger number =
                    newestList().map(list -> list.number().add(BigInteger.ONE)).orElse(BigInteger.ONE);
            newest.set(readList(enrolments.list(number, at, CertificateAuthority.LEAF))
                    .orElseThrow());
            return newest.get();
        }

        @Override
        public Optional<RevocationList> readList(byte[] signed) {
            try {
                return Optional.of(RevocationList.read(signed, List.of(key.verificationKey())));
            } catch (IOException e) {
                return Optional.empty();
            }
        }
    }

    @BeforeEach
    void open() throws Exception {
        CertificateAuthority site = CertificateAuthority.ofSite(
                SubjectPublicKey.of(key.verificationKey()), key::sign, START, Duration.ofDays(30), new SecureRandom());
        enrolments = new RegistrationAuthority(site, new EnrolmentFileStore(folder));
        enrolments.open(HOST, token.publicHalf(), START, Duration.ofHours(1));
        renewal = new CertificateRenewal(new TestAuthority(), now::get, journal::add);
        awaitLine("list 1 signed");
    }

    @AfterEach
    void close() {
        renewal.close();
    }

    private void awaitLine(String begin) throws InterruptedException {
        assertThat(journal.poll(10, TimeUnit.SECONDS)).isNotNull().startsWith(begin);
    }

    private RenewalResult asks(SigningKey of) throws Exception {
        BlockingQueue<RenewalResult> messages = new LinkedBlockingQueue<>();
        byte[] request = EnrolmentRequest.first(CertificateRequest.make(HOST, of), token.token())
                .json();
        renewal.renew(new RelayMessage.RenewalRequested(1, HOST, ByteString.copyFrom(request)), messages::add);
        return messages.poll(10, TimeUnit.SECONDS);
    }

    private BigInteger enrolled() throws Exception {
        byte[] certificate = asks(key()).certificate().toByteArray();
        awaitLine("renewed: ");
        return new X509CertificateHolder(certificate).getSerialNumber();
    }

    @Test
    void an_alarm_whose_list_could_not_be_signed_is_answered_and_signed_at_the_next_look() throws Exception {
        BigInteger serial = enrolled();
        failures.set(1);
        RenewalResult outcome = asks(key());
        assertThat(outcome).isNotNull();
        assertThat(outcome.refused()).isEqualTo("copied");
        awaitLine("ALARM: ");
        awaitLine("error: revocation list: the token is gone");
        awaitLine("list 2 signed");
        assertThat(newest.get().serials()).contains(serial);
    }

    @Test
    void what_another_program_withdrew_and_did_not_list_is_listed() throws Exception {
        BigInteger serial = enrolled();
        enrolments.revoke(HOST, "a test", START);
        now.set(START.plusSeconds(40));
        awaitLine("list 2 signed");
        assertThat(newest.get().serials()).contains(serial);
        now.set(START.plusSeconds(80));
        assertThat(journal.poll(3, TimeUnit.SECONDS)).as("signed once").isNull();
    }
}
