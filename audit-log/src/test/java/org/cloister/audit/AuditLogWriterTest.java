package org.cloister.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.AuditSegmentHeader;
import org.cloister.protocol.audit.AuditVerification;
import org.cloister.protocol.audit.SignedAuditHead;
import org.cloister.protocol.dsse.SigningKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditLogWriterTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private final SigningKey key;

    AuditLogWriterTest() throws Exception {
        key = RelayLogSamples.key();
    }

    private AuditLogWriter open() throws IOException {
        return AuditLogWriter.open(folder, RelayLogSamples.RELAY, key, RelayLogSamples.CLOCK);
    }

    private Path first() {
        return folder.resolve(AuditSegmentHeader.fileName(1));
    }

    private AuditVerification verified(SignedAuditHead... witnessed) throws IOException {
        AuditVerification verification = RelayLogSamples.verify(RelayLogSamples.read(folder), key, List.of(witnessed));
        assertThat(verification.findings()).isEmpty();
        return verification;
    }

    private String text() throws IOException {
        StringBuilder text = new StringBuilder();
        RelayLogSamples.read(folder).values().forEach(bytes -> text.append(new String(bytes, StandardCharsets.UTF_8)));
        return text.toString();
    }

    @Test
    void a_group_is_there_under_a_signed_head_when_append_returns() throws Exception {
        try (AuditLogWriter log = open()) {
            assertThat(log.lastEvent()).isZero();
            SignedAuditHead head = log.append(RelayLogSamples.events(1, 3));
            assertThat(head.head().count()).isEqualTo(4);
            assertThat(log.head()).isEqualTo(head);
            assertThat(log.lastEvent()).isEqualTo(3);
            assertThat(verified(head).newest())
                    .hasValueSatisfying(newest -> assertThat(newest.head()).isEqualTo(head.head()));
        }
        assertThat(Files.getPosixFilePermissions(first())).isEqualTo(PosixFilePermissions.fromString("rw-r-----"));
    }

    @Test
    void it_goes_on_after_a_restart() throws Exception {
        SignedAuditHead before;
        try (AuditLogWriter log = open()) {
            before = log.append(RelayLogSamples.events(1, 3));
        }
        try (AuditLogWriter log = open()) {
            assertThat(log.head().head()).isEqualTo(before.head());
            assertThat(log.lastEvent()).isEqualTo(3);
            SignedAuditHead after = log.append(RelayLogSamples.events(4, 4));
            assertThat(after.head().log()).isEqualTo(before.head().log());
            assertThat(verified(before, after).records()).isEqualTo(5);
        }
    }

    @Test
    void an_event_that_the_log_has_already_is_refused() throws Exception {
        try (AuditLogWriter log = open()) {
            log.append(RelayLogSamples.events(1, 3));
            assertThatThrownBy(() -> log.append(RelayLogSamples.events(3, 4)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("want an event after 3, have 3");
            log.append(RelayLogSamples.events(4, 5));
            verified();
        }
    }

    @Test
    void what_was_torn_off_in_the_middle_of_a_group_is_cut_off_and_said() throws Exception {
        SignedAuditHead whole;
        try (AuditLogWriter log = open()) {
            whole = log.append(RelayLogSamples.events(1, 3));
        }
        byte[] good = Files.readAllBytes(first());
        try (AuditLogWriter log = open()) {
            log.append(RelayLogSamples.events(4, 5));
        }
        byte[] more = Files.readAllBytes(first());
        for (int length = good.length + 1; length < more.length; length += 97) {
            Files.write(first(), Arrays.copyOf(more, length));
            try (AuditLogWriter log = open()) {
                assertThat(log.lastEvent()).isEqualTo(3);
                assertThat(log.head().head().count()).isEqualTo(whole.head().count() + 1);
                assertThat(text())
                        .contains("\"kind\":\"log.recovered\",\"facts\":{\"bytes\":" + (length - good.length));
                log.append(RelayLogSamples.events(4, 4));
                verified(whole);
            }
            Files.write(first(), good);
        }
    }

    @Test
    void a_first_group_or_a_new_segment_that_was_torn_off_is_begun_anew() throws Exception {
        open().close();
        byte[] written = Files.readAllBytes(first());
        for (int length : new int[] {0, 1, written.length / 2, written.length - 1}) {
            Files.write(first(), Arrays.copyOf(written, length));
            open().close();
            assertThat(verified().newest()).isPresent();
        }
        Path next;
        try (AuditLogWriter log = AuditLogWriter.open(folder, RelayLogSamples.RELAY, key, RelayLogSamples.CLOCK, 1)) {
            next = folder.resolve(AuditSegmentHeader.fileName(log.head().head().count() + 1));
            log.append(RelayLogSamples.events(1, 2));
        }
        byte[] whole = Files.readAllBytes(next);
        for (int length : new int[] {0, 1, whole.length / 2, whole.length - 1}) {
            Files.write(next, Arrays.copyOf(whole, length));
            try (AuditLogWriter log = open()) {
                assertThat(log.lastEvent()).isZero();
                verified();
            }
        }
    }

    @Test
    void a_log_that_was_changed_is_refused_with_file_record_and_remedy() throws Exception {
        try (AuditLogWriter log = open()) {
            log.append(RelayLogSamples.events(1, 3));
            log.append(RelayLogSamples.events(4, 5));
        }
        String whole = Files.readString(first());
        Files.writeString(first(), whole.replaceFirst("\"nodes\":2", "\"nodes\":9"));
        assertThatThrownBy(this::open)
                .isInstanceOf(IOException.class)
                .hasMessageContaining(first() + ": record 6: its head says 6 records with hash")
                .hasMessageContaining("agentctl audit verify");
        Files.writeString(first(), whole.replaceFirst("\"number\":3", "\"number\":8"));
        assertThatThrownBy(this::open).hasMessageContaining("record 3: want this number, have 8");
        Files.writeString(first(), whole.replaceFirst("\"facts\"", "\"fucts\""));
        assertThatThrownBy(this::open).hasMessageContaining("record 1: facts: missing");
        Files.writeString(first(), whole);
        open().close();
    }

    @Test
    void the_log_of_another_relay_and_one_that_is_open_are_refused() throws Exception {
        try (AuditLogWriter log = open()) {
            assertThatThrownBy(this::open).hasMessageContaining("another process has locked it");
            assertThat(log.isWritable()).isTrue();
        }
        assertThatThrownBy(() ->
                        AuditLogWriter.open(folder, "r2.relay.site.cloister.internal", key, RelayLogSamples.CLOCK))
                .hasMessageContaining(
                        "want the log of r2.relay.site.cloister.internal, have that of " + RelayLogSamples.RELAY);
    }

    @Test
    void a_full_segment_is_followed_by_the_next_which_names_it() throws Exception {
        List<SignedAuditHead> heads = new ArrayList<>();
        try (AuditLogWriter log =
                AuditLogWriter.open(folder, RelayLogSamples.RELAY, key, RelayLogSamples.CLOCK, 3000)) {
            for (int id = 1; id <= 20; id++) {
                heads.add(log.append(RelayLogSamples.events(id, id)));
            }
        }
        Map<String, byte[]> segments = RelayLogSamples.read(folder);
        assertThat(segments).hasSizeBetween(4, 10);
        assertThat(verified(heads.toArray(new SignedAuditHead[0])).records()).isEqualTo(21);
        try (AuditLogWriter log = open()) {
            assertThat(log.lastEvent()).isEqualTo(20);
        }
    }

    @Test
    void the_relays_new_key_begins_a_new_segment() throws Exception {
        open().close();
        SigningKey other = RelayLogSamples.key();
        AuditLogWriter.open(folder, RelayLogSamples.RELAY, other, RelayLogSamples.CLOCK)
                .close();
        AuditLogWriter.open(folder, RelayLogSamples.RELAY, other, RelayLogSamples.CLOCK)
                .close();
        assertThat(RelayLogSamples.read(folder))
                .containsOnlyKeys(AuditSegmentHeader.fileName(1), AuditSegmentHeader.fileName(2));
        assertThat(text())
                .contains("\"kind\":\"log.signer\",\"facts\":{\"signer\":\""
                        + other.verificationKey().id());
        assertThat(RelayLogSamples.verify(RelayLogSamples.read(folder), key, List.of())
                        .findings())
                .singleElement()
                .satisfies(finding -> assertThat(finding.text())
                        .contains(other.verificationKey().id()));
    }

    @Test
    void callers_that_come_together_share_a_head() throws Exception {
        int callers = 16;
        int each = 50;
        ExecutorService threads = Executors.newFixedThreadPool(callers);
        try (AuditLogWriter log = open()) {
            CountDownLatch begin = new CountDownLatch(1);
            List<Future<?>> done = new ArrayList<>();
            for (int caller = 0; caller < callers; caller++) {
                int first = caller * each;
                done.add(threads.submit(() -> {
                    begin.await();
                    for (int i = 0; i < each; i++) {
                        AuditEvent event = RelayLogSamples.event(first + i).numbered(0);
                        SignedAuditHead head = log.append(List.of(event));
                        assertThat(head.head().count()).isPositive();
                    }
                    return null;
                }));
            }
            begin.countDown();
            for (Future<?> future : done) {
                future.get(120, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(verified().records()).isEqualTo(callers * each + 1);
        String text = text();
        for (int i = 0; i < callers * each; i++) {
            assertThat(text).containsOnlyOnce("\"nodes\":" + i + ",");
        }
        long heads =
                text.lines().filter(line -> line.startsWith("{\"payload\"")).count();
        assertThat(heads).as("heads, one a sync").isLessThan(callers * each / 2);
    }

    @Test
    void a_thread_that_was_interrupted_does_not_end_the_log() throws Exception {
        try (AuditLogWriter log = open()) {
            Thread.currentThread().interrupt();
            log.append(RelayLogSamples.events(1, 1));
            assertThat(Thread.interrupted()).isTrue();
            log.append(RelayLogSamples.events(2, 2));
            verified();
        }
    }

    @Test
    void bytes_that_nobody_wrote_whole_at_the_end_are_cut_off() throws Exception {
        open().close();
        Files.write(first(), new byte[5000], StandardOpenOption.APPEND);
        try (AuditLogWriter log = open()) {
            assertThat(log.isWritable()).isTrue();
            assertThat(text()).contains("\"bytes\":5000}");
            verified();
        }
    }
}
