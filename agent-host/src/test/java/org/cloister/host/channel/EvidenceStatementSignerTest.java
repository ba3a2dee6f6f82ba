package org.cloister.host.channel;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.AttestationResult;
import org.cloister.protocol.evidence.BootPublicKeys;
import org.cloister.protocol.evidence.EvidenceFixture;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.EvidenceStatementSigner;
import org.cloister.protocol.evidence.EvidenceStore;
import org.cloister.protocol.evidence.EvidenceVerifier;
import org.cloister.protocol.evidence.IssuanceRefusedException;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.policy.HostSharing;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EvidenceStatementSignerTest {
    private final EvidenceFixture fixture = new EvidenceFixture();

    @TempDir
    Path folder;

    private EvidenceStatementSigner issuer(SigningKey key, EvidenceStore record) {
        return new EvidenceStatementSigner("node17", key, record);
    }

    private EvidenceStatementSigner issuer() {
        return issuer(fixture.signer, new EvidenceFileStore(folder));
    }

    private DsseEnvelope issue(EvidenceStatementSigner issuer, AttestationClaims claim)
            throws IOException, GeneralSecurityException {
        return issuer.issue(fixture.facts(), claim, List.of(), EvidenceFixture.NOW);
    }

    private AttestationClaims otherClaim() {
        AttestationClaims claim = fixture.claim();
        return new AttestationClaims(
                new BootPublicKeys(claim.keys().sealing(), claim.keys().signing()), claim.nonce(), claim.binding());
    }

    @Test
    void a_verifier_believes_what_it_issues() throws Exception {
        DsseEnvelope envelope = issue(issuer(), fixture.claim());
        assertThat(EvidenceVerifier.appraise(fixture.policy(), fixture.expectation(), envelope, EvidenceFixture.NOW))
                .isInstanceOf(AttestationResult.Accepted.class);
    }

    @Test
    void who_asks_again_gets_the_same_after_a_restart_and_later() throws Exception {
        DsseEnvelope first = issue(issuer(), fixture.claim());
        DsseEnvelope again =
                issuer().issue(fixture.facts(), fixture.claim(), List.of(), EvidenceFixture.NOW.plusSeconds(600));
        assertThat(again.payloadSha256()).isEqualTo(first.payloadSha256());
    }

    @Test
    void another_claim_or_other_facts_are_refused_for_the_whole_life() throws Exception {
        issue(issuer(), fixture.claim());
        assertThatThrownBy(() -> issue(issuer(), otherClaim()))
                .isInstanceOf(IssuanceRefusedException.class)
                .hasMessageContaining(fixture.claim().keys().signing().id())
                .hasMessageContaining("one statement a VM life");
        AttestationClaims otherNonce = new AttestationClaims(
                fixture.claim().keys(),
                Nonce.random(new SecureRandom()),
                fixture.claim().binding());
        assertThatThrownBy(() -> issue(issuer(), otherNonce)).isInstanceOf(IssuanceRefusedException.class);
        fixture.sharing = HostSharing.PROJECT;
        assertThatThrownBy(() -> issue(issuer(), fixture.claim()))
                .isInstanceOf(IssuanceRefusedException.class)
                .hasMessageContaining("want the facts of its statement");
    }

    /** As after a crash between the record and the signature: the record alone decides. */
    @Test
    void what_is_recorded_binds_though_it_was_never_signed() throws Exception {
        SigningKey token = new SigningKey() {
            @Override
            public VerificationKey verificationKey() {
                return fixture.signer.verificationKey();
            }

            @Override
            public byte[] sign(byte[] message) throws GeneralSecurityException {
                throw new GeneralSecurityException("the token is gone");
            }
        };
        assertThatThrownBy(() -> issue(issuer(token, new EvidenceFileStore(folder)), fixture.claim()))
                .isInstanceOf(GeneralSecurityException.class);
        assertThatThrownBy(() -> issue(issuer(), otherClaim())).isInstanceOf(IssuanceRefusedException.class);
        assertThat(issue(issuer(), fixture.claim()).payloadType()).isEqualTo(EvidenceStatement.TYPE);
    }

    @Test
    void nothing_is_signed_that_could_not_be_recorded() {
        boolean[] signed = new boolean[1];
        SigningKey watched = new SigningKey() {
            @Override
            public VerificationKey verificationKey() {
                return fixture.signer.verificationKey();
            }

            @Override
            public byte[] sign(byte[] message) throws GeneralSecurityException {
                signed[0] = true;
                return fixture.signer.sign(message);
            }
        };
        EvidenceStore full = new EvidenceStore() {
            @Override
            public Optional<byte[]> find(String vm) {
                return Optional.empty();
            }

            @Override
            public void store(String vm, byte[] payload) throws IOException {
                throw new IOException("no space left on device");
            }
        };
        assertThatThrownBy(() -> issue(issuer(watched, full), fixture.claim())).hasMessage("no space left on device");
        assertThat(signed).containsExactly(false);
    }

    @Test
    void a_damaged_record_is_no_leave_to_sign_another() throws Exception {
        issue(issuer(), fixture.claim());
        Path file = folder.resolve(fixture.facts().vm() + ".json");
        Files.write(file, new byte[0]);
        assertThatThrownBy(() -> issue(issuer(), fixture.claim()))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining(fixture.facts().vm())
                .hasMessageContaining("start it anew");
        Files.write(file, new byte[EvidenceStatement.MAX_BYTES + 1]);
        assertThatThrownBy(() -> issue(issuer(), fixture.claim())).isInstanceOf(MalformedException.class);
    }

    @Test
    void of_two_records_of_one_life_the_first_stays() throws Exception {
        EvidenceFileStore record = new EvidenceFileStore(folder);
        String vm = fixture.facts().vm();
        record.store(vm, "first".getBytes(UTF_8));
        assertThatThrownBy(() -> record.store(vm, "second".getBytes(UTF_8)))
                .isInstanceOf(FileAlreadyExistsException.class);
        assertThat(record.find(vm))
                .hasValueSatisfying(bytes -> assertThat(bytes).asString(UTF_8).isEqualTo("first"));
        assertThat(names()).containsExactly(vm + ".json");
        assertThatThrownBy(() -> record.find("../" + vm)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void retain_forgets_the_gone_and_the_half_written() throws Exception {
        EvidenceFileStore record = new EvidenceFileStore(folder);
        String processes = "l".repeat(26);
        String gone = "g".repeat(26);
        record.store(processes, new byte[1]);
        record.store(gone, new byte[1]);
        Files.write(folder.resolve("." + gone + "-1.new"), new byte[1]);
        record.retain(Set.of(processes));
        assertThat(names()).containsExactly(processes + ".json");
    }

    /** Any order of claims, crashes before and after each step, and restarts: one payload a life. */
    @Test
    void a_life_has_one_statement_whatever_happens() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int process = 0; process < 40; process++) {
            Path own = Files.createDirectory(folder.resolve("life" + process));
            Set<Digest> signed = new HashSet<>();
            for (int i = 0; i < 12; i++) {
                AttestationClaims claim = random.nextBoolean() ? fixture.claim() : otherClaim();
                EvidenceStore record = crashing(new EvidenceFileStore(own), random.nextInt(4));
                try {
                    signed.add(issuer(fixture.signer, record)
                            .issue(fixture.facts(), claim, List.of(), EvidenceFixture.NOW.plusSeconds(i))
                            .payloadSha256());
                } catch (IOException e) {
                    assertThat(e).isInstanceOfAny(IssuanceRefusedException.class, Crash.class);
                }
            }
            assertThat(signed).as("seed %d, life %d", seed, process).hasSizeLessThanOrEqualTo(1);
        }
    }

    private static final class Crash extends IOException {
        private static final long serialVersionUID = 1;
    }

    private static EvidenceStore crashing(EvidenceStore record, int when) {
        return new EvidenceStore() {
            @Override
            public Optional<byte[]> find(String vm) throws IOException {
                return record.find(vm);
            }

            @Override
            public void store(String vm, byte[] payload) throws IOException {
                if (when == 0) {
                    throw new Crash();
                }
                record.store(vm, payload);
                if (when == 1) {
                    throw new Crash();
                }
            }
        };
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }
}
