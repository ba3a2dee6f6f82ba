package org.cloister.relay.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.fairness.RelayLimits;
import org.cloister.relay.state.AuditSpace;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests how much one project can make the relay record, and what continues when that is used up. */
@Tag("boundary")
@SuppressWarnings("NullAway") // set up before each
class AuditSpaceTest extends TicketFixture {
    private static final int REFUSALS = 400;
    /** Of tickets of one node. */
    private static final long ONE = 12 * 1024;

    private Path log() {
        return state.resolve("audit");
    }

    private long size() throws IOException {
        long size = 0;
        try (Stream<Path> files = Files.list(log())) {
            for (Path each : files.toList()) {
                size += Files.size(each);
            }
        }
        return size;
    }

    private List<JsonNode> records(String kind) throws IOException {
        List<JsonNode> all = new ArrayList<>();
        try (Stream<Path> files = Files.list(log())) {
            for (Path each : files.filter(file -> file.toString().endsWith(".jsonl"))
                    .sorted()
                    .toList()) {
                for (String line : Files.readAllLines(each)) {
                    JsonNode json = new ObjectMapper().readTree(line);
                    if (json.path("kind").asText().equals(kind)) {
                        all.add(json.path("facts"));
                    }
                }
            }
        }
        return all;
    }

    private RelayTicketMessage.Refused refused(TestTicketAgent of, int nodes) throws Exception {
        of.order(of.ticket(TestTicketAgent.nodes(nodes)));
        return of.next(RelayTicketMessage.Refused.class);
    }

    private void serve(AuditSpace auditSpace) throws Exception {
        fixture.auditSpace = Optional.of(auditSpace);
        restart();
    }

    @Test
    void a_project_whose_signed_tickets_are_refused_again_and_again_fills_no_log_and_each_is_counted()
            throws Exception {
        long before = size();
        for (int i = 0; i < REFUSALS; i++) {
            assertThat(refused(vm, 1 << 12).clause()).isEqualTo(TicketClause.QUOTA);
        }
        assertThat(size() - before)
                .as("bytes that %s refused tickets added to the audit log", REFUSALS)
                .isLessThan(8 * 1024);
        fixture.kill();
        List<JsonNode> counted = records("ticket.refused");
        assertThat(counted.stream()
                        .mapToLong(each -> each.path("count").asLong())
                        .sum())
                .isEqualTo(REFUSALS);
        assertThat(counted).hasSizeLessThan(10).allSatisfy(each -> {
            assertThat(each.path("project").asText()).isEqualTo(fixture.site.a.id());
            assertThat(each.path("clause").asText()).isEqualTo("quota");
            assertThat(Instant.parse(each.path("since").asText())).isBeforeOrEqualTo(Instant.now());
        });
        fixture.relay = fixture.serve(0, RelayLimits.DEFAULT);
    }

    @Test
    void what_was_counted_comes_into_the_log_a_minute_after_the_first_and_metrics_have_it_at_once() throws Exception {
        AtomicLong aheadS = new AtomicLong();
        fixture.clock = () -> Instant.now().plusSeconds(aheadS.get());
        restart();
        for (int i = 0; i < 3; i++) {
            refused(vm, 1 << 12);
        }
        assertThat(fixture.metrics
                        .registry()
                        .counter("cloister.relay.refused.quota")
                        .getCount())
                .isEqualTo(3);
        assertThat(records("ticket.refused")).isEmpty();
        aheadS.set(61);
        await(() -> !records("ticket.refused").isEmpty());
        assertThat(records("ticket.refused"))
                .singleElement()
                .satisfies(each -> assertThat(each.path("count").asLong()).isEqualTo(3));
    }

    @Test
    void a_take_over_has_a_quarter_more_than_new_work_and_no_end() throws Exception {
        serve(new AuditSpace(ONE, 0, () -> Long.MAX_VALUE));
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(ticket);
        vm.awaitState(ticket.id(), TicketState.ACCEPTED);
        TestTicketAgent second =
                TestTicketAgent.controller(hostLink, fixture.controller, fixture.credential(fixture.controller));
        second.takesOver(ticket, 2);
        second.next(RelayTicketMessage.Update.class);
        await(() -> records("ticket.taken-over").size() == 1);
        TestTicketAgent third =
                TestTicketAgent.controller(hostLink, fixture.controller, fixture.credential(fixture.controller));
        third.takesOver(ticket, 3);
        assertThat(third.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.AUDIT);
        assertThat(records("ticket.taken-over")).hasSize(1);
    }

    @Test
    void a_project_that_has_used_up_its_bytes_of_the_day_gets_nothing_new_also_after_a_restart_and_what_it_has_ends()
            throws Exception {
        serve(new AuditSpace(3 * ONE, 0, () -> Long.MAX_VALUE));
        List<Ticket> accepted = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
            vm.order(ticket);
            vm.awaitState(ticket.id(), TicketState.ACCEPTED);
            accepted.add(ticket);
        }
        RelayTicketMessage.Refused no = refused(vm, 1);
        assertThat(no.clause()).isEqualTo(TicketClause.AUDIT);
        assertThat(no.text())
                .contains("want at most " + 3 * ONE + " bytes of audit records a day of project " + fixture.site.a.id())
                .contains("have " + 3 * ONE + ", and " + ONE + " for this");
        await(() -> fixture.relay.ticketLifecycle().exhaustedProjects() == 1);
        if (Instant.now().atOffset(ZoneOffset.UTC).getHour() < 23) {
            // Another day begins at midnight, perhaps just now.
            restart();
            assertThat(refused(vm, 1).clause()).isEqualTo(TicketClause.AUDIT);
        }
        for (Ticket each : accepted) {
            vm.withdraw(each.id());
        }
        for (Ticket each : accepted) {
            String id = each.id();
            await(() -> records("ticket.ended").stream()
                    .anyMatch(ended -> ended.path("ticket").asText().equals(id)));
        }
    }

    @Test
    void another_project_is_served_while_one_has_used_up_its_bytes() throws Exception {
        serve(new AuditSpace(ONE, 0, () -> Long.MAX_VALUE));
        vm.order(vm.ticket(TestTicketAgent.nodes(1)));
        vm.next(RelayTicketMessage.Update.class);
        assertThat(refused(vm, 1).clause()).isEqualTo(TicketClause.AUDIT);
        var other = fixture.site.b.name("c", CertificateRole.CONTROLLER);
        TestTicketAgent others = TestTicketAgent.controller(hostLink, other, fixture.credential(other));
        Ticket ticket = others.ticket(TestTicketAgent.nodes(1));
        others.order(ticket);
        others.awaitState(ticket.id(), TicketState.ACCEPTED);
    }

    @Test
    void a_disk_with_no_more_than_what_is_kept_for_ends_takes_nothing_new_and_ends_what_there_is() throws Exception {
        AtomicLong free = new AtomicLong(1001);
        serve(new AuditSpace(AuditSpace.PROJECT_BYTES, 1000, free::get));
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(ticket);
        vm.awaitState(ticket.id(), TicketState.RUNNING);
        free.set(1000);
        RelayTicketMessage.Refused no = refused(vm, 1);
        assertThat(no.clause()).isEqualTo(TicketClause.AUDIT);
        assertThat(no.text()).contains("want more than 1000 bytes free").contains("have 1000");
        vm.withdraw(ticket.id());
        assertThat(vm.awaitState(ticket.id(), TicketState.ENDED).end()).contains(TicketEnd.WITHDRAWN);
        assertThat(records("ticket.ended")).isNotEmpty();
        free.set(1001);
        Ticket next = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(next);
        vm.awaitState(next.id(), TicketState.ACCEPTED);
    }
}
