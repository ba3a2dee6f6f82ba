package org.cloister.host.channel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.evidence.EvidenceFixture;
import org.cloister.protocol.evidence.EvidenceStatementSigner;
import org.cloister.protocol.evidence.IssuanceRefusedException;
import org.cloister.protocol.evidence.VmFacts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A host's daemon that is killed while it signs, and started again, says one thing of each VM life. */
class EvidenceStatementSignerKillTest {
    private static final int ATTEMPTS = 3;
    private static final int PROCESSES = 600;
    /** A life in base32, a blank, a digest in hex; a shorter one was cut off. */
    private static final int LINE = 52 + 1 + 64;

    @TempDir
    Path folder;

    @Test
    void one_statement_a_life_through_every_kill() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Map<String, String> output = new HashMap<>();
        int killed = 0;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Process child = start();
            try (BufferedReader lines =
                    new BufferedReader(new InputStreamReader(child.getInputStream(), StandardCharsets.UTF_8))) {
                int left = random.nextInt(40);
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (line.length() != LINE) {
                        continue;
                    }
                    String[] word = line.split(" ", 2);
                    assertThat(output.merge(word[0], word[1], (before, now) -> before))
                            .as("seed %d, round %d, life %s", seed, attempt, word[0])
                            .isEqualTo(word[1]);
                    if (left-- == 0) {
                        // By its handle: what it said before it ended can still be read then.
                        child.toHandle().destroyForcibly();
                        killed++;
                    }
                }
            } finally {
                child.destroyForcibly();
                assertThat(child.waitFor(60, TimeUnit.SECONDS)).isTrue();
            }
        }
        assertThat(killed).as("seed %d, rounds that were killed", seed).isPositive();
    }

    private Process start() throws IOException {
        Path errors = folder.resolve("errors");
        Path records = Files.createDirectories(folder.resolve("records"));
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Target.class.getName(),
                        records.toString())
                .redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()))
                .start();
    }

    /** Asks for a statement of each life with keys of its own, as if every VM had been replaced, and prints what it got. */
    static final class Target {
        private Target() {}

        public static void main(String[] arguments) throws IOException, GeneralSecurityException {
            EvidenceFixture fixture = new EvidenceFixture();
            EvidenceStatementSigner issuer =
                    new EvidenceStatementSigner("node17", fixture.signer, new EvidenceFileStore(Path.of(arguments[0])));
            for (int i = 0; i < PROCESSES; i++) {
                VmFacts facts = fixture.facts();
                String vm = BinaryText.base32(
                        Digest.sha256(new byte[] {(byte) i, (byte) (i >> 8)}).bytes());
                VmFacts process = new VmFacts(
                        facts.project(),
                        vm,
                        facts.role(),
                        facts.ticket(),
                        facts.slot(),
                        facts.image(),
                        facts.shape(),
                        facts.sharing());
                try {
                    Digest signed = issuer.issue(process, fixture.claim(), List.of(), Instant.now())
                            .payloadSha256();
                    System.out.println(vm + " " + signed);
                } catch (IssuanceRefusedException e) {
                    System.err.println(e.getMessage());
                }
            }
        }
    }
}
