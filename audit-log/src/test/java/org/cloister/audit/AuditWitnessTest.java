package org.cloister.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.cloister.audit.AuditWitness.Alarm;
import org.cloister.audit.AuditWitness.Reason;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.AuditFinding;
import org.cloister.protocol.audit.AuditHead;
import org.cloister.protocol.audit.AuditLogSample;
import org.cloister.protocol.audit.AuditLogVerifier;
import org.cloister.protocol.audit.AuditVerification;
import org.cloister.protocol.audit.SignedAuditHead;
import org.cloister.protocol.audit.WitnessedAuditHead;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditWitnessTest {
    private static final AuditEvent EVENT = AuditEvent.of(AuditLogSample.NOON, "relay.started");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private final SigningKey relay = AuditLogSample.key(SignatureCurve.P256);
    private final SigningKey witness = AuditLogSample.key(SignatureCurve.P384);
    private final List<VerificationKey> keys = List.of(relay.verificationKey());
    private final AuditLogSample log = new AuditLogSample(relay);

    private Path file() {
        return folder.resolve("heads");
    }

    private AuditWitness open() throws IOException {
        return AuditWitness.open(file(), witness);
    }

    private AuditWitness.Outcome offer(AuditWitness witness, SignedAuditHead head) throws IOException {
        return witness.offer(head.envelope().bytes(), keys);
    }

    private static void assertAlarm(AuditWitness.Outcome outcome, Reason reason, String text) {
        assertThat(outcome).isInstanceOfSatisfying(Alarm.class, alarm -> {
            assertThat(alarm.reason()).isEqualTo(reason);
            assertThat(alarm.text()).contains(text);
        });
    }

    @Test
    void the_newest_head_is_kept_countersigned_and_survives_a_restart() throws Exception {
        AuditWitness witness = open();
        assertThat(witness.newest()).isEmpty();
        assertThat(offer(witness, log.group(EVENT))).isInstanceOf(AuditWitness.Stored.class);
        SignedAuditHead second = log.group(EVENT, EVENT);
        assertThat(offer(witness, second)).isInstanceOf(AuditWitness.Stored.class);
        assertThat(offer(witness, second)).isInstanceOf(AuditWitness.Unchanged.class);
        assertThat(open().newest()).hasValueSatisfying(newest -> {
            assertThat(newest.head()).isEqualTo(second.head());
            assertThat(newest.envelope().bytes()).isNotEqualTo(second.envelope().bytes());
        });
    }

    @Test
    void a_head_that_is_older_forked_of_another_log_or_not_the_relays_is_an_alarm_and_is_not_kept() throws Exception {
        AuditWitness witness = open();
        SignedAuditHead first = log.group(EVENT);
        SignedAuditHead second = log.group(EVENT);
        offer(witness, first);
        offer(witness, second);
        assertAlarm(offer(witness, first), Reason.OLDER, "want one after record 2");
        AuditLogSample fork = new AuditLogSample(relay);
        assertAlarm(offer(witness, fork.group(EVENT.by("b".repeat(52)), EVENT)), Reason.FORKED, "have record 2");
        assertAlarm(
                offer(witness, new AuditLogSample(relay, "c".repeat(26)).group(EVENT, EVENT, EVENT)),
                Reason.OTHER_LOG,
                "have record 3 of log cccc");
        assertAlarm(
                offer(witness, new AuditLogSample(AuditLogSample.key(SignatureCurve.P256)).group(EVENT, EVENT, EVENT)),
                Reason.NOT_SIGNED,
                "want signatures of 1 of 1 keys");
        assertAlarm(witness.offer(new byte[] {'{'}, keys), Reason.NOT_SIGNED, "not a JSON document");
        assertThat(open().newest().orElseThrow().head()).isEqualTo(second.head());
    }

    @Test
    void a_fork_that_goes_on_past_the_witness_is_found_with_what_was_kept_before() throws Exception {
        AuditWitness witness = open();
        offer(witness, log.group(EVENT));
        offer(witness, log.group(EVENT));
        AuditLogSample fork = new AuditLogSample(relay);
        fork.group(EVENT);
        fork.group(EVENT.by("b".repeat(52)));
        // No keeper can tell, from a head alone, that this one forgets the second.
        for (int i = 0; i < 5; i++) {
            assertThat(offer(witness, fork.group(EVENT))).isInstanceOf(AuditWitness.Stored.class);
        }
        assertThat(new AuditLogVerifier(keys, 1)
                        .verify(List.of(fork.segment()), AuditWitness.read(file()))
                        .findings())
                .extracting(AuditFinding::kind)
                .containsExactly(AuditFinding.Kind.FORKED);
    }

    @Test
    void a_file_stays_small_and_keeps_old_heads_as_well() throws Exception {
        AuditWitness witness = open();
        for (int i = 0; i < 100; i++) {
            offer(witness, log.group(EVENT));
        }
        List<Long> counts = new ArrayList<>();
        for (WitnessedAuditHead kept : AuditWitness.read(file())) {
            counts.add(AuditHead.verify(DsseEnvelope.parse(kept.envelope(), AuditHead.MAX_BYTES), keys)
                    .head()
                    .count());
        }
        assertThat(counts)
                .isSorted()
                .hasSizeLessThanOrEqualTo(AuditWitness.MAX_HEADS)
                .contains(1L, 99L, 100L);
        AuditVerification verification =
                new AuditLogVerifier(keys, 1).verify(List.of(log.segment()), AuditWitness.read(file()));
        assertThat(verification.findings()).isEmpty();
        assertThat(verification.unseen()).singleElement().asString().contains("that of record 100");
    }

    @Test
    void a_file_that_this_witness_did_not_write_is_refused() throws Exception {
        offer(open(), log.group(EVENT));
        assertThatThrownBy(() -> AuditWitness.open(file(), AuditLogSample.key(SignatureCurve.P384)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("line 1: ")
                .hasMessageContaining("keep the file");
        Files.writeString(file(), "{}\n");
        assertThatThrownBy(this::open).hasMessageContaining("line 1: payloadType: missing");
        Files.writeString(file(), "{}\n".repeat(AuditWitness.MAX_HEADS + 1));
        assertThatThrownBy(this::open).hasMessageContaining("want at most 64 lines of a head each");
    }
}
