package org.cloister.protocol.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.junit.jupiter.api.Test;

/** Findings after single changes; the relay's tests change every byte of a log that it wrote. */
class AuditLogVerifierTest {
    private static final AuditEvent EVENT = AuditEvent.of(AuditLogSample.NOON, "ticket.ended")
            .with(AuditField.TICKET, "t".repeat(26))
            .with(AuditField.END, "timeout");

    private final SigningKey relay = AuditLogSample.key(SignatureCurve.P256);
    private final AuditLogSample log = new AuditLogSample(relay);

    private AuditVerification verify(WitnessedAuditHead... witnessed) throws IOException {
        return new AuditLogVerifier(Set.of(relay.verificationKey()), 1)
                .verify(List.of(log.segment()), List.of(witnessed));
    }

    @Test
    void it_says_what_it_cannot_have_found() throws Exception {
        log.group(EVENT);
        AuditVerification none = new AuditLogVerifier(Set.of(), 1).verify(List.of(log.segment()), List.of());
        assertThat(none.isValid()).isTrue();
        assertThat(none.unseen()).hasSize(2);
        assertThat(none.unseen().get(0)).startsWith("the relay's certificate or key was not given");
        assertThat(none.unseen().get(1)).startsWith("no witness's head was given");
    }

    @Test
    void a_count_of_refusals_is_a_record_like_any_other_and_its_facts_are_held_to_their_patterns() throws Exception {
        AuditEvent refused = AuditEvent.of(AuditLogSample.NOON, "ticket.refused")
                .with(AuditField.PROJECT, "p".repeat(52))
                .with(AuditField.CLAUSE, "quota")
                .with(AuditField.COUNT, 1200)
                .with(AuditField.SINCE, "2026-11-22T11:59:00Z");
        log.group(refused.numbered(7));
        assertThat(verify().isValid()).isTrue();
        assertThat(AuditEvent.parse(refused.json(), 7)).isEqualTo(refused.numbered(7));
        for (String other : List.of("2026-11-22", "2026-11-22T11:59:00+00:00", "2026-11-22T11:59:00.5Z", "x")) {
            assertThatThrownBy(() -> refused.with(AuditField.SINCE, other))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("since: want ");
        }
        assertThatThrownBy(() -> refused.with(AuditField.SINCE, 5)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_record_beyond_the_last_head_is_found() throws Exception {
        log.group(EVENT);
        log.add(AuditRecord.of(2, EVENT).line());
        assertThat(verify().findings()).extracting(AuditFinding::kind).containsExactly(AuditFinding.Kind.UNSIGNED_END);
    }

    @Test
    void an_event_that_comes_twice_is_found() throws Exception {
        log.group(EVENT.numbered(4));
        log.group(EVENT.numbered(4));
        assertThat(verify().findings()).singleElement().asString().contains("want an event after 4, have 4");
    }

    @Test
    void a_head_of_a_witness_that_the_relay_did_not_sign_or_of_another_log_is_found() throws Exception {
        log.group(EVENT);
        byte[] others = new AuditLogSample(AuditLogSample.key(SignatureCurve.P256))
                .group(EVENT)
                .envelope()
                .bytes();
        byte[] another = new AuditLogSample(relay, "b".repeat(26))
                .group(EVENT)
                .envelope()
                .bytes();
        assertThat(verify(new WitnessedAuditHead("w1", others), new WitnessedAuditHead("w2", another))
                        .findings())
                .extracting(AuditFinding::kind)
                .containsExactly(AuditFinding.Kind.WITNESS, AuditFinding.Kind.WITNESS);
    }

    @Test
    void nothing_at_all_is_no_log_and_a_witness_knows_better() throws Exception {
        byte[] head = log.group(EVENT).envelope().bytes();
        AuditVerification empty = new AuditLogVerifier(Set.of(relay.verificationKey()), 1)
                .verify(List.of(), List.of(new WitnessedAuditHead("w", head)));
        assertThat(empty.findings()).extracting(AuditFinding::kind).containsExactly(AuditFinding.Kind.ROLLED_BACK);
    }

    @Test
    void findings_are_bounded_and_a_line_without_end_takes_no_memory() throws Exception {
        byte[] nonsense = "x\n".repeat(1000).getBytes(StandardCharsets.UTF_8);
        AuditSegment segment = new AuditSegment("s", () -> new ByteArrayInputStream(nonsense));
        assertThat(new AuditLogVerifier(Set.of(), 1)
                        .verify(List.of(segment), List.of())
                        .findings())
                .hasSize(AuditLogVerifier.MAX_FINDINGS);
        SegmentLineReader reader = new SegmentLineReader(new ByteArrayInputStream(new byte[1 << 20]));
        Optional<SegmentLineReader.Line> line = reader.next();
        assertThat(line).hasValueSatisfying(read -> {
            assertThat(read.whole()).isFalse();
            assertThat(read.bytes()).hasSize(AuditRecord.MAX_LINE);
        });
    }

    @Test
    void a_fact_has_its_kind_and_range_and_an_event_comes_back_from_the_outbox() throws Exception {
        AuditEvent event = EVENT.numbered(7).by("k".repeat(52)).with(AuditField.GLOBAL_JOB, 12);
        assertThat(AuditEvent.parse(event.json(), 7)).isEqualTo(event);
        assertThatThrownBy(() -> EVENT.with(AuditField.TICKET, "/home/alice/run.sh"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("ticket: want [a-z2-7]{26}, have ");
        assertThatThrownBy(() -> EVENT.with(AuditField.VLAN, 4095)).hasMessage("vlan: want 1 to 4094, have 4095");
        assertThatThrownBy(() -> EVENT.with(AuditField.VLAN, "7")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> EVENT.with(AuditField.TICKET, 7)).isInstanceOf(IllegalArgumentException.class);
        byte[] newer = "{\"time\":\"2026-11-22T12:00:00Z\",\"kind\":\"a\",\"facts\":{\"colour\":1}}"
                .getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> AuditEvent.parse(newer, 1))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining("facts.colour: unknown");
    }
}
