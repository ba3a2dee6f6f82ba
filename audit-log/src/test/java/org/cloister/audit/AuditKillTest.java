package org.cloister.audit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.protocol.audit.AuditVerification;
import org.cloister.protocol.dsse.SigningKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A relay that is killed while it appends, and started again, has each event that it acknowledged once. */
class AuditKillTest {
    private static final int ROUNDS = 6;
    private static final Pattern EVENT = Pattern.compile("\"kind\":\"ticket.accepted\",\"event\":([0-9]+)");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    void no_acknowledged_event_is_lost_and_none_is_doubled_through_every_kill() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        KeyPair pair = pair();
        Path log = folder.resolve("log");
        long acknowledged = 0;
        int killed = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Process child = start(pair, log);
            try (BufferedReader lines =
                    new BufferedReader(new InputStreamReader(child.getInputStream(), StandardCharsets.UTF_8))) {
                int left = random.nextInt(60);
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (line.endsWith(".")) {
                        acknowledged = Long.parseLong(line.substring(0, line.length() - 1));
                    }
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
            try (AuditLogWriter opened =
                    AuditLogWriter.open(log, RelayLogSamples.RELAY, SigningKey.of(pair), RelayLogSamples.CLOCK)) {
                assertThat(opened.lastEvent())
                        .as("seed %d, round %d", seed, round)
                        .isGreaterThanOrEqualTo(acknowledged);
            }
        }
        assertThat(killed).as("seed %d, rounds that were killed", seed).isEqualTo(ROUNDS);
        Map<String, byte[]> segments = RelayLogSamples.read(log);
        AuditVerification verification = RelayLogSamples.verify(segments, SigningKey.of(pair), List.of());
        assertThat(verification.findings()).as("seed %d", seed).isEmpty();
        Map<Long, Integer> events = new HashMap<>();
        for (byte[] segment : segments.values()) {
            Matcher matcher = EVENT.matcher(new String(segment, StandardCharsets.UTF_8));
            while (matcher.find()) {
                events.merge(Long.parseLong(matcher.group(1)), 1, Integer::sum);
            }
        }
        for (long event = 1; event <= acknowledged; event++) {
            assertThat(events.get(event)).as("seed %d, event %d", seed, event).isEqualTo(1);
        }
        assertThat(new HashSet<>(events.values())).as("seed %d", seed).containsExactly(1);
    }

    private static KeyPair pair() throws GeneralSecurityException {
        var generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        return generator.generateKeyPair();
    }

    private Process start(KeyPair pair, Path log) throws IOException {
        Path key = folder.resolve("key");
        Path publicKey = folder.resolve("public");
        Files.write(key, pair.getPrivate().getEncoded());
        Files.write(publicKey, pair.getPublic().getEncoded());
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Target.class.getName(),
                        key.toString(),
                        publicKey.toString(),
                        log.toString())
                .redirectError(ProcessBuilder.Redirect.appendTo(
                        folder.resolve("errors").toFile()))
                .start();
    }

    /** Appends groups of events from where the log ends, and prints the last id of each that was acknowledged. */
    static final class Target {
        private Target() {}

        public static void main(String[] arguments) throws IOException, GeneralSecurityException {
            KeyFactory keys = KeyFactory.getInstance("EC");
            SigningKey key = SigningKey.of(new KeyPair(
                    keys.generatePublic(new X509EncodedKeySpec(Files.readAllBytes(Path.of(arguments[1])))),
                    keys.generatePrivate(new PKCS8EncodedKeySpec(Files.readAllBytes(Path.of(arguments[0]))))));
            // Small segments, so that some kills meet a rotation.
            try (AuditLogWriter log = AuditLogWriter.open(
                    Path.of(arguments[2]), RelayLogSamples.RELAY, key, RelayLogSamples.CLOCK, 20_000)) {
                long next = log.lastEvent() + 1;
                for (int size = 1; ; size = size % 7 + 1) {
                    log.append(RelayLogSamples.events(next, next + size - 1));
                    next += size;
                    System.out.println((next - 1) + ".");
                }
            }
        }
    }
}
