package org.cloister.relay.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.AuditField;
import org.cloister.protocol.audit.AuditHead;
import org.cloister.protocol.audit.AuditRecord;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("boundary")
class AuditBudgetTest {
    private static final Instant NOON = Instant.parse("2026-11-22T12:00:00Z");
    private static final long PER_DAY = 100_000;
    private static final long MAX = (1L << 53) - 1;
    /** The longest that an identity has: an id, a role, a project and the suffix. */
    private static final String NAME = "n".repeat(63) + ".controller." + "p".repeat(52) + ".cloister.internal";

    private final AuditBudget budget = new AuditBudget(PER_DAY);

    private static AuditEvent event(String kind) {
        return AuditEvent.of(NOON, kind)
                .by("k".repeat(52))
                .with(AuditField.PROJECT, "p".repeat(52))
                .with(AuditField.TICKET, "t".repeat(26))
                .numbered(MAX);
    }

    private static long bytes(AuditEvent event) {
        return AuditRecord.of(MAX, event).line().length + 1L;
    }

    private static long head() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(SignatureCurve.P384.standardName()));
        String log = "l".repeat(26);
        AuditHead head = new AuditHead(NAME, log, MAX, Digest.sha256(new byte[0]), NOON);
        return head.sign(SigningKey.of(generator.generateKeyPair())).envelope().bytes().length + 1L;
    }

    @Test
    void a_ticket_is_charged_with_no_less_than_its_longest_records_and_a_head_for_each_group() throws Exception {
        AuditEvent accepted = event("opening.accepted")
                .with(AuditField.OPENER, NAME)
                .with(AuditField.DIGEST, "d".repeat(52))
                .with(AuditField.EPOCH, MAX)
                .with(AuditField.DRIVE, "d".repeat(32))
                .with(AuditField.SEQUENCE, MAX)
                .with(AuditField.ACCOUNT, "a".repeat(64))
                .with(AuditField.NODES, 1 << 16)
                .with(AuditField.CPUS, 1 << 24)
                .with(AuditField.MEMORY_MIB, 1L << 40)
                .with(AuditField.MINUTES, 527_040)
                .with(AuditField.VLAN, 4094);
        long own = bytes(accepted)
                + bytes(event("ticket.queued").with(AuditField.GLOBAL_JOB, MAX))
                + bytes(event("ticket.running").with(AuditField.GLOBAL_JOB, MAX))
                + bytes(event("ticket.withdrawn"))
                + bytes(event("ticket.ended").with(AuditField.GLOBAL_JOB, MAX).with(AuditField.END, "not-started"));
        assertThat(own + 5 * head()).isLessThanOrEqualTo(AuditBudget.TICKET);
        AuditEvent event = event("slot.given")
                .with(AuditField.SLOT, 1 << 16)
                .with(AuditField.NODE, "n".repeat(64))
                .with(AuditField.HOST, NAME)
                .with(AuditField.ADDRESS, "100.100.100.100")
                .with(AuditField.CPUS, 1 << 24)
                .with(AuditField.MEMORY_MIB, 1L << 40);
        AuditEvent claimed =
                event("slot.claimed").with(AuditField.SLOT, 1 << 16).with(AuditField.HOST, NAME);
        assertThat(bytes(event) + 2 * (bytes(claimed) + head())).isLessThanOrEqualTo(AuditBudget.SLOT);
        AuditEvent takeOver = event("ticket.taken-over").with(AuditField.EPOCH, MAX);
        assertThat(bytes(takeOver) + head()).isLessThanOrEqualTo(AuditBudget.TAKE_OVER);
    }

    @Test
    void new_work_has_the_days_bytes_and_a_take_over_a_quarter_more() {
        budget.charge("p", PER_DAY - 10, NOON);
        assertThat(budget.hasForWork("p", 10, NOON)).isTrue();
        assertThat(budget.hasForWork("p", 11, NOON)).isFalse();
        assertThat(budget.hasForWork("q", PER_DAY, NOON)).as("another project").isTrue();
        assertThat(budget.hasForTakeOver("p", NOON)).isTrue();
        budget.charge("p", PER_DAY / 4, NOON);
        assertThat(budget.hasForTakeOver("p", NOON)).isFalse();
        budget.updateExhausted(NOON);
        assertThat(budget.exhausted()).isEqualTo(1);
    }

    @Test
    void a_day_begins_at_midnight_utc() {
        Instant last = Instant.parse("2026-11-22T23:59:59Z");
        budget.charge("p", PER_DAY, last);
        assertThat(budget.hasForWork("p", 1, last)).isFalse();
        Instant next = last.plusSeconds(1);
        assertThat(AuditBudget.midnight(next)).isEqualTo(next);
        assertThat(AuditBudget.midnight(last)).isEqualTo(next.minus(Duration.ofDays(1)));
        assertThat(budget.hasForWork("p", PER_DAY, next)).isTrue();
        budget.updateExhausted(next);
        assertThat(budget.exhausted()).isZero();
    }
}
