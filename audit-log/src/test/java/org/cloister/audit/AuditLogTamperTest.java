package org.cloister.audit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.cloister.protocol.audit.AuditFinding;
import org.cloister.protocol.audit.AuditLogVerifier;
import org.cloister.protocol.audit.AuditSegment;
import org.cloister.protocol.audit.AuditVerification;
import org.cloister.protocol.audit.SignedAuditHead;
import org.cloister.protocol.audit.WitnessedAuditHead;
import org.cloister.protocol.dsse.SigningKey;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each change of a log of some twenty records in three segments is found, from its files alone and a witness's head.
 */
class AuditLogTamperTest {
    private static final int GROUPS = 6;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private final long seed = System.nanoTime();
    private final Random random = new Random(seed);
    /** The log after each group. */
    private final List<Map<String, byte[]>> states = new ArrayList<>();

    private final List<SignedAuditHead> heads = new ArrayList<>();

    @SuppressWarnings("NullAway.Init")
    private SigningKey key;

    @SuppressWarnings("NullAway.Init")
    private Map<String, byte[]> whole;

    @BeforeEach
    void write() throws Exception {
        key = RelayLogSamples.key();
        write(folder, key, heads, states);
        whole = RelayLogSamples.read(folder);
        assertThat(whole).hasSize(3);
        AuditVerification verification = verify(whole);
        assertThat(verification.findings()).isEmpty();
        assertThat(verification.records()).isEqualTo(1 + 3 * GROUPS);
    }

    private static void write(
            Path folder, SigningKey key, List<SignedAuditHead> heads, List<Map<String, byte[]>> states)
            throws IOException {
        try (AuditLogWriter log =
                AuditLogWriter.open(folder, RelayLogSamples.RELAY, key, RelayLogSamples.CLOCK, 2800)) {
            for (int group = 0; group < GROUPS; group++) {
                heads.add(log.append(RelayLogSamples.events(3 * group + 1, 3 * group + 3)));
                states.add(RelayLogSamples.read(folder));
            }
        }
    }

    /** With the newest head, as a witness has it. */
    private AuditVerification verify(Map<String, byte[]> segments) throws IOException {
        return RelayLogSamples.verify(segments, key, heads.subList(heads.size() - 1, heads.size()));
    }

    private AuditVerification verifyAlone(Map<String, byte[]> segments) throws IOException {
        return RelayLogSamples.verify(segments, key, List.of());
    }

    /** A segment without the others, as if these were kept elsewhere. */
    private AuditVerification verifyAlone(String name, byte[] bytes) throws IOException {
        long from = Long.parseLong(name.replaceAll("[^0-9]", ""));
        return new AuditLogVerifier(List.of(key.verificationKey()), from)
                .verify(List.of(new AuditSegment(name, () -> new ByteArrayInputStream(bytes))), List.of());
    }

    private static byte[] join(List<String> lines) {
        return lines.stream()
                .map(line -> line + "\n")
                .collect(Collectors.joining())
                .getBytes(StandardCharsets.UTF_8);
    }

    private static List<String> lines(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8).lines().toList();
    }

    @Test
    void each_segment_alone_holds() throws Exception {
        for (Map.Entry<String, byte[]> segment : whole.entrySet()) {
            assertThat(verifyAlone(segment.getKey(), segment.getValue()).findings())
                    .isEmpty();
        }
    }

    @Test
    void every_byte_that_is_changed_is_found_without_a_witness() throws Exception {
        for (Map.Entry<String, byte[]> segment : whole.entrySet()) {
            for (int i = 0; i < segment.getValue().length; i++) {
                byte[] bytes = segment.getValue().clone();
                bytes[i] ^= (byte) (1 + random.nextInt(255));
                assertThat(verifyAlone(segment.getKey(), bytes).findings())
                        .as("seed %d, %s, byte %d", seed, segment.getKey(), i)
                        .isNotEmpty();
            }
        }
    }

    @Test
    void every_line_that_is_dropped_doubled_or_swapped_is_found_without_a_witness() throws Exception {
        for (Map.Entry<String, byte[]> segment : whole.entrySet()) {
            List<String> lines = lines(segment.getValue());
            for (int i = 0; i < lines.size(); i++) {
                List<String> doubled = new ArrayList<>(lines);
                doubled.add(i, lines.get(i));
                List<String> dropped = new ArrayList<>(lines);
                dropped.remove(i);
                List<String> swapped = new ArrayList<>(lines);
                swapped.set(i, lines.get((i + 1) % lines.size()));
                swapped.set((i + 1) % lines.size(), lines.get(i));
                for (List<String> changed : List.of(doubled, dropped, swapped)) {
                    assertThat(verifyAlone(segment.getKey(), join(changed)).findings())
                            .as("%s, line %d", segment.getKey(), i)
                            .isNotEmpty();
                }
            }
        }
    }

    @Test
    void every_segment_that_is_dropped_or_swapped_is_found() throws Exception {
        List<String> names = List.copyOf(whole.keySet());
        for (int i = 0; i < names.size(); i++) {
            Map<String, byte[]> without = new TreeMap<>(whole);
            without.remove(names.get(i));
            assertThat(verify(without).findings())
                    .as("without %s", names.get(i))
                    .isNotEmpty();
        }
        // The name of a file says nothing: its first line does.
        Map<String, byte[]> renamed = new TreeMap<>(whole);
        renamed.put(names.get(0), whole.getOrDefault(names.get(1), new byte[0]));
        renamed.put(names.get(1), whole.getOrDefault(names.get(0), new byte[0]));
        assertThat(verify(renamed).findings()).isEmpty();
    }

    @Test
    void every_truncation_is_found_with_a_witness() throws Exception {
        String last = List.copyOf(whole.keySet()).get(2);
        byte[] bytes = whole.getOrDefault(last, new byte[0]);
        long from = Long.parseLong(last.replaceAll("[^0-9]", ""));
        byte[] head = heads.get(GROUPS - 1).envelope().bytes();
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            assertThat(new AuditLogVerifier(List.of(key.verificationKey()), from)
                            .verify(
                                    List.of(new AuditSegment(last, () -> new ByteArrayInputStream(cut))),
                                    List.of(new WitnessedAuditHead("witness", head)))
                            .findings())
                    .as("%s, %d bytes", last, length)
                    .isNotEmpty();
        }
    }

    @Test
    void an_earlier_state_is_found_with_a_witness_and_without_one_verify_says_that_it_cannot() throws Exception {
        for (Map<String, byte[]> earlier : states.subList(0, GROUPS - 1)) {
            assertThat(verify(earlier).findings())
                    .extracting(AuditFinding::kind)
                    .containsExactly(AuditFinding.Kind.ROLLED_BACK);
            AuditVerification alone = verifyAlone(earlier);
            assertThat(alone.findings()).isEmpty();
            assertThat(alone.unseen()).singleElement().asString().contains("no witness's head was given");
        }
    }

    @Test
    void a_history_that_the_relays_own_key_signed_anew_is_found_with_a_witness(@TempDir Path elsewhere)
            throws Exception {
        // Of the same log, with one record that says otherwise, and longer than the true one.
        for (int from = 1; from < GROUPS; from++) {
            Path copy = elsewhere.resolve("copy" + from);
            Files.createDirectories(copy);
            for (Map.Entry<String, byte[]> each : states.get(from - 1).entrySet()) {
                Files.write(copy.resolve(each.getKey()), each.getValue());
            }
            try (AuditLogWriter log =
                    AuditLogWriter.open(copy, RelayLogSamples.RELAY, key, RelayLogSamples.CLOCK, 2800)) {
                log.append(List.of(RelayLogSamples.event(3 * from + 1).by("f".repeat(52))));
                log.append(RelayLogSamples.events(3 * from + 2, 3 * GROUPS + 3));
            }
            Map<String, byte[]> forked = RelayLogSamples.read(copy);
            assertThat(verifyAlone(forked).findings()).isEmpty();
            assertThat(verify(forked).findings())
                    .extracting(AuditFinding::kind)
                    .containsExactly(AuditFinding.Kind.FORKED);
        }
    }

    @Test
    void a_log_signed_by_another_key_is_found(@TempDir Path elsewhere) throws Exception {
        write(elsewhere, RelayLogSamples.key(), new ArrayList<>(), new ArrayList<>());
        assertThat(verifyAlone(RelayLogSamples.read(elsewhere)).findings())
                .extracting(AuditFinding::kind)
                .contains(AuditFinding.Kind.KEY);
    }
}
