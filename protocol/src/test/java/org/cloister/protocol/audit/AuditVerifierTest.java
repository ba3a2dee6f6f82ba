package org.cloister.protocol.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.junit.jupiter.api.Test;

/** What single changes come to; the relay's tests change every byte of a log that it wrote. */
class AuditVerifierTest {
    private static final AuditEvent EVENT = AuditEvent.of(WrittenLog.NOON, "ticket.ended")
            .with(Fact.TICKET, "t".repeat(26))
            .with(Fact.END, "timeout");

    private final SigningKey relay = WrittenLog.key(Curve.P256);
    private final WrittenLog log = new WrittenLog(relay);

    private Verification verify(WitnessedHead... witnessed) throws IOException {
        return new AuditVerifier(Set.of(relay.verificationKey()), 1).verify(List.of(log.segment()), List.of(witnessed));
    }

    @Test
    void it_says_what_it_cannot_have_found() throws Exception {
        log.group(EVENT);
        Verification none = new AuditVerifier(Set.of(), 1).verify(List.of(log.segment()), List.of());
        assertThat(none.holds()).isTrue();
        assertThat(none.unseen()).hasSize(2);
        assertThat(none.unseen().get(0)).startsWith("the relay's certificate or key was not given");
        assertThat(none.unseen().get(1)).startsWith("no witness's head was given");
    }

    @Test
    void a_count_of_refusals_is_a_record_like_any_other_and_its_facts_are_held_to_their_patterns() throws Exception {
        AuditEvent refused = AuditEvent.of(WrittenLog.NOON, "ticket.refused")
                .with(Fact.PROJECT, "p".repeat(52))
                .with(Fact.CLAUSE, "quota")
                .with(Fact.COUNT, 1200)
                .with(Fact.SINCE, "2026-11-22T11:59:00Z");
        log.group(refused.numbered(7));
        assertThat(verify().holds()).isTrue();
        assertThat(AuditEvent.parse(refused.json(), 7)).isEqualTo(refused.numbered(7));
        for (String other : List.of("2026-11-22", "2026-11-22T11:59:00+00:00", "2026-11-22T11:59:00.5Z", "x")) {
            assertThatThrownBy(() -> refused.with(Fact.SINCE, other))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("since: want ");
        }
        assertThatThrownBy(() -> refused.with(Fact.SINCE, 5)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_record_beyond_the_last_head_is_found() throws Exception {
        log.group(EVENT);
        log.add(AuditRecord.of(2, EVENT).line());
        assertThat(verify().findings()).extracting(Finding::kind).containsExactly(Finding.Kind.UNSIGNED_END);
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
        byte[] others = new WrittenLog(WrittenLog.key(Curve.P256))
                .group(EVENT)
                .envelope()
                .bytes();
        byte[] another =
                new WrittenLog(relay, "b".repeat(26)).group(EVENT).envelope().bytes();
        assertThat(verify(new WitnessedHead("w1", others), new WitnessedHead("w2", another))
                        .findings())
                .extracting(Finding::kind)
                .containsExactly(Finding.Kind.WITNESS, Finding.Kind.WITNESS);
    }

    @Test
    void nothing_at_all_is_no_log_and_a_witness_knows_better() throws Exception {
        byte[] head = log.group(EVENT).envelope().bytes();
        Verification empty = new AuditVerifier(Set.of(relay.verificationKey()), 1)
                .verify(List.of(), List.of(new WitnessedHead("w", head)));
        assertThat(empty.findings()).extracting(Finding::kind).containsExactly(Finding.Kind.ROLLED_BACK);
    }

    @Test
    void findings_are_bounded_and_a_line_without_end_takes_no_memory() throws Exception {
        byte[] nonsense = "x\n".repeat(1000).getBytes(StandardCharsets.UTF_8);
        Segment segment = new Segment("s", () -> new ByteArrayInputStream(nonsense));
        assertThat(new AuditVerifier(Set.of(), 1)
                        .verify(List.of(segment), List.of())
                        .findings())
                .hasSize(AuditVerifier.MAX_FINDINGS);
        LineReader reader = new LineReader(new ByteArrayInputStream(new byte[1 << 20]));
        Optional<LineReader.Line> line = reader.next();
        assertThat(line).hasValueSatisfying(read -> {
            assertThat(read.whole()).isFalse();
            assertThat(read.bytes()).hasSize(AuditRecord.MAX_LINE);
        });
    }

    @Test
    void a_fact_has_its_kind_and_range_and_an_event_comes_back_from_the_outbox() throws Exception {
        AuditEvent event = EVENT.numbered(7).by("k".repeat(52)).with(Fact.GLOBAL_JOB, 12);
        assertThat(AuditEvent.parse(event.json(), 7)).isEqualTo(event);
        assertThatThrownBy(() -> EVENT.with(Fact.TICKET, "/home/alice/run.sh"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("ticket: want [a-z2-7]{26}, have ");
        assertThatThrownBy(() -> EVENT.with(Fact.VLAN, 4095)).hasMessage("vlan: want 1 to 4094, have 4095");
        assertThatThrownBy(() -> EVENT.with(Fact.VLAN, "7")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> EVENT.with(Fact.TICKET, 7)).isInstanceOf(IllegalArgumentException.class);
        byte[] newer = "{\"time\":\"2026-11-22T12:00:00Z\",\"kind\":\"a\",\"facts\":{\"colour\":1}}"
                .getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> AuditEvent.parse(newer, 1))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining("facts.colour: unknown");
    }
}
