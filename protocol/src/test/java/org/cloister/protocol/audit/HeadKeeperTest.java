package org.cloister.protocol.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.cloister.protocol.audit.HeadKeeper.Alarm;
import org.cloister.protocol.audit.HeadKeeper.Reason;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HeadKeeperTest {
    private static final AuditEvent EVENT = AuditEvent.of(WrittenLog.NOON, "relay.started");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private final SigningKey relay = WrittenLog.key(Curve.P256);
    private final SigningKey witness = WrittenLog.key(Curve.P384);
    private final List<VerificationKey> keys = List.of(relay.verificationKey());
    private final WrittenLog log = new WrittenLog(relay);

    private Path file() {
        return folder.resolve("heads");
    }

    private HeadKeeper open() throws IOException {
        return HeadKeeper.open(file(), witness);
    }

    private HeadKeeper.Outcome offer(HeadKeeper keeper, SignedHead head) throws IOException {
        return keeper.offer(head.envelope().bytes(), keys);
    }

    private static void assertAlarm(HeadKeeper.Outcome outcome, Reason reason, String text) {
        assertThat(outcome).isInstanceOfSatisfying(Alarm.class, alarm -> {
            assertThat(alarm.reason()).isEqualTo(reason);
            assertThat(alarm.text()).contains(text);
        });
    }

    @Test
    void the_newest_head_is_kept_countersigned_and_survives_a_restart() throws Exception {
        HeadKeeper keeper = open();
        assertThat(keeper.newest()).isEmpty();
        assertThat(offer(keeper, log.group(EVENT))).isInstanceOf(HeadKeeper.Kept.class);
        SignedHead second = log.group(EVENT, EVENT);
        assertThat(offer(keeper, second)).isInstanceOf(HeadKeeper.Kept.class);
        assertThat(offer(keeper, second)).isInstanceOf(HeadKeeper.Known.class);
        assertThat(open().newest()).hasValueSatisfying(newest -> {
            assertThat(newest.head()).isEqualTo(second.head());
            assertThat(newest.envelope().bytes()).isNotEqualTo(second.envelope().bytes());
        });
    }

    @Test
    void a_head_that_is_older_forked_of_another_log_or_not_the_relays_is_an_alarm_and_is_not_kept() throws Exception {
        HeadKeeper keeper = open();
        SignedHead first = log.group(EVENT);
        SignedHead second = log.group(EVENT);
        offer(keeper, first);
        offer(keeper, second);
        assertAlarm(offer(keeper, first), Reason.OLDER, "want one after record 2");
        WrittenLog fork = new WrittenLog(relay);
        assertAlarm(offer(keeper, fork.group(EVENT.by("b".repeat(52)), EVENT)), Reason.FORKED, "have record 2");
        assertAlarm(
                offer(keeper, new WrittenLog(relay, "c".repeat(26)).group(EVENT, EVENT, EVENT)),
                Reason.OTHER_LOG,
                "have record 3 of log cccc");
        assertAlarm(
                offer(keeper, new WrittenLog(WrittenLog.key(Curve.P256)).group(EVENT, EVENT, EVENT)),
                Reason.NOT_SIGNED,
                "want signatures of 1 of 1 keys");
        assertAlarm(keeper.offer(new byte[] {'{'}, keys), Reason.NOT_SIGNED, "not a JSON document");
        assertThat(open().newest().orElseThrow().head()).isEqualTo(second.head());
    }

    @Test
    void a_fork_that_goes_on_past_the_witness_is_found_with_what_was_kept_before() throws Exception {
        HeadKeeper keeper = open();
        offer(keeper, log.group(EVENT));
        offer(keeper, log.group(EVENT));
        WrittenLog fork = new WrittenLog(relay);
        fork.group(EVENT);
        fork.group(EVENT.by("b".repeat(52)));
        // No keeper can tell, from a head alone, that this one forgets the second.
        for (int i = 0; i < 5; i++) {
            assertThat(offer(keeper, fork.group(EVENT))).isInstanceOf(HeadKeeper.Kept.class);
        }
        assertThat(new AuditVerifier(keys, 1)
                        .verify(List.of(fork.segment()), HeadKeeper.read(file()))
                        .findings())
                .extracting(Finding::kind)
                .containsExactly(Finding.Kind.FORKED);
    }

    @Test
    void a_file_stays_small_and_keeps_old_heads_as_well() throws Exception {
        HeadKeeper keeper = open();
        for (int i = 0; i < 100; i++) {
            offer(keeper, log.group(EVENT));
        }
        List<Long> counts = new ArrayList<>();
        for (WitnessedHead kept : HeadKeeper.read(file())) {
            counts.add(AuditHead.verify(Envelope.parse(kept.envelope(), AuditHead.MAX_BYTES), keys)
                    .head()
                    .count());
        }
        assertThat(counts)
                .isSorted()
                .hasSizeLessThanOrEqualTo(HeadKeeper.MAX_HEADS)
                .contains(1L, 99L, 100L);
        Verification verification = new AuditVerifier(keys, 1).verify(List.of(log.segment()), HeadKeeper.read(file()));
        assertThat(verification.findings()).isEmpty();
        assertThat(verification.unseen()).singleElement().asString().contains("that of record 100");
    }

    @Test
    void a_file_that_this_witness_did_not_write_is_refused() throws Exception {
        offer(open(), log.group(EVENT));
        assertThatThrownBy(() -> HeadKeeper.open(file(), WrittenLog.key(Curve.P384)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("line 1: ")
                .hasMessageContaining("keep the file");
        Files.writeString(file(), "{}\n");
        assertThatThrownBy(this::open).hasMessageContaining("line 1: payloadType: missing");
        Files.writeString(file(), "{}\n".repeat(HeadKeeper.MAX_HEADS + 1));
        assertThatThrownBy(this::open).hasMessageContaining("want at most 64 lines of a head each");
    }
}
