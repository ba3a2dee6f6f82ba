package org.cloister.relay.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.AuditField;
import org.cloister.protocol.ticket.TicketClause;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("boundary")
class RefusalCountsTest {
    private static final Instant NOON = Instant.parse("2026-11-22T12:00:00Z");
    private static final String PROJECT = "p".repeat(52);
    private static final String ONE = "a".repeat(52);
    private static final String OTHER = "b".repeat(52);
    private static final RefusalCounts.Key KEY = key(PROJECT, TicketClause.QUOTA);

    private static final List<TicketClause> CLAUSES =
            List.of(TicketClause.QUOTA, TicketClause.EXPIRED, TicketClause.AUDIT);

    private final RefusalCounts counts = new RefusalCounts();

    private static RefusalCounts.Key key(String project, TicketClause clause) {
        return new RefusalCounts.Key("ticket.refused", project, clause);
    }

    private static String ticket(int number) {
        return "t".repeat(25) + (char) ('a' + number % 26);
    }

    private static Instant at(long seconds) {
        return NOON.plusSeconds(seconds);
    }

    @Test
    void a_record_counts_a_minute_of_one_project_kind_and_clause() {
        for (int i = 0; i < 500; i++) {
            counts.add(KEY, ONE, ticket(i), at(i / 10));
            counts.add(key(PROJECT, TicketClause.EXPIRED), ONE, ticket(i), at(i / 10));
            counts.add(new RefusalCounts.Key("opening.refused", PROJECT, TicketClause.QUOTA), ONE, ticket(i), at(0));
        }
        assertThat(counts.due(at(59))).isEmpty();
        assertThat(counts.due(at(60))).hasSize(3).allMatch(each -> each.count() == 500);
        AuditEvent event = counts.due(at(60)).get(0).event(at(60));
        assertThat(event.kind()).isEqualTo("ticket.refused");
        assertThat(event.facts())
                .isEqualTo(Map.of(
                        AuditField.PROJECT,
                        PROJECT,
                        AuditField.CLAUSE,
                        "quota",
                        AuditField.COUNT,
                        500L,
                        AuditField.SINCE,
                        "2026-11-22T12:00:00Z"));
        assertThat(event.key()).contains(ONE);
    }

    @Test
    void a_single_refusal_is_told_with_its_ticket_and_several_keys_with_none() {
        counts.add(KEY, ONE, ticket(1), NOON);
        assertThat(counts.all().get(0).event(at(5)).facts()).containsEntry(AuditField.TICKET, ticket(1));
        counts.add(KEY, OTHER, ticket(2), NOON);
        counts.add(KEY, ONE, ticket(3), NOON);
        AuditEvent event = counts.all().get(0).event(at(5));
        assertThat(event.key()).isEmpty();
        assertThat(event.facts()).doesNotContainKey(AuditField.TICKET).containsEntry(AuditField.COUNT, 3L);
    }

    @Test
    void what_comes_while_a_record_is_written_is_counted_from_there_on() {
        counts.add(KEY, ONE, ticket(1), NOON);
        RefusalCounts.Counted recorded = counts.due(at(60)).get(0);
        counts.add(KEY, ONE, ticket(2), at(60));
        counts.add(KEY, ONE, ticket(3), at(60));
        counts.markWritten(recorded, at(60));
        assertThat(counts.all())
                .containsExactly(new RefusalCounts.Counted(KEY, 2, at(60), Optional.of(ONE), Optional.empty()));
        assertThat(counts.due(at(119))).isEmpty();
        counts.markWritten(counts.due(at(120)).get(0), at(120));
        assertThat(counts.all()).isEmpty();
    }

    @Test
    void a_clock_that_is_set_back_keeps_no_count_from_the_log() {
        counts.add(KEY, ONE, ticket(1), NOON);
        assertThat(counts.due(NOON.minus(Duration.ofDays(3)))).hasSize(1);
    }

    /** Any course of refusals and of records that are written, or not because the disk is full. */
    @Test
    void every_refusal_is_in_exactly_one_record() {
        Random random = new Random(30);
        Map<RefusalCounts.Key, Long> refused = new HashMap<>();
        Map<RefusalCounts.Key, Long> recorded = new HashMap<>();
        Instant now = NOON;
        for (int i = 0; i < 20_000; i++) {
            now = now.plusMillis(random.nextInt(5000));
            RefusalCounts.Key key = key(
                    String.valueOf((char) ('a' + random.nextInt(3))).repeat(52),
                    CLAUSES.get(random.nextInt(CLAUSES.size())));
            counts.add(key, ONE, ticket(i), now);
            refused.merge(key, 1L, Long::sum);
            if (random.nextInt(10) == 0) {
                for (RefusalCounts.Counted each : counts.due(now)) {
                    if (random.nextBoolean()) {
                        recorded.merge(each.key(), each.count(), Long::sum);
                        counts.markWritten(each, now);
                    }
                }
            }
        }
        counts.all().forEach(each -> recorded.merge(each.key(), each.count(), Long::sum));
        assertThat(recorded).isEqualTo(refused);
    }
}
