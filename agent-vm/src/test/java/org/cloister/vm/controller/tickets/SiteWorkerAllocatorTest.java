package org.cloister.vm.controller.tickets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.MemoryReserve;
import org.cloister.protocol.ticket.MemoryReserves;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is said to the relay and told to the queue, whatever is lost, late or killed on the way. */
class SiteWorkerAllocatorTest {
    private static final String PROJECT = "a".repeat(52);
    private static final String ID = "b".repeat(26);
    private static final Duration PATIENCE = Duration.ofMillis(200);
    private static final ResourceRequest REQUEST =
            new ResourceRequest(2, OptionalInt.of(2), 1, OptionalInt.of(1), 64, 64, false, 10, List.of());
    private static final MemoryReserves RESERVES =
            new MemoryReserves(new MemoryReserve(256, 64), new MemoryReserve(192, 256));
    /** 64, 256 + 1 for the guest and 192 + 2 for QEMU. */
    private static final int MEMORY_MIB = 515;
    /** 64, 2 for inodes, 8 for the file system and 16 for LUKS2. */
    private static final int SCRATCH_MIB = 90;

    @TempDir
    private Path folder;

    private final List<AgentTicketMessage> said = new ArrayList<>();
    private final List<WorkerEvent> events = new ArrayList<>();
    private final FakeWorkerSlots slots = new FakeWorkerSlots();
    private final FakeTicketRecorder witness = new FakeTicketRecorder();
    private Instant now = Instant.parse("2026-06-02T09:00:00Z");
    private SigningKey key;
    private ScheduledExecutorService decisions;
    private SiteWorkerAllocator workers;

    @BeforeEach
    void start() throws Exception {
        start(1);
    }

    @AfterEach
    void stop() {
        decisions.shutdownNow();
    }

    /** As after a boot of the controlling VM, or, with the epoch of the one before, after a kill of its agent. */
    private void start(long epoch) throws IOException {
        key = SigningKey.of(BootFixture.pair(SignatureCurve.P384));
        decisions = Executors.newSingleThreadScheduledExecutor();
        workers = new SiteWorkerAllocator(
                new SiteWorkerAllocator.Settings(PROJECT, key, RESERVES, PATIENCE),
                TicketFolder.open(folder.resolve("tickets"), epoch),
                slots,
                witness,
                decisions,
                () -> now);
        workers.start(events::add);
    }

    private void kill() throws Exception {
        settle();
        decisions.shutdownNow();
        said.clear();
        events.clear();
        slots.told.clear();
    }

    private void settle() throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        decisions.execute(done::countDown);
        assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
    }

    private void open() {
        workers.onOpen(said::add);
    }

    private static RelayTicketMessage.Update update(TicketState state, String allocation) {
        return new RelayTicketMessage.Update(
                ID, state, Optional.empty(), "", 7, ByteString.copyFromUtf8(allocation), ByteString.EMPTY);
    }

    private void ends(TicketEnd end) {
        workers.onMessage(new RelayTicketMessage.Update(
                ID, TicketState.ENDED, Optional.of(end), "", 0, ByteString.EMPTY, ByteString.EMPTY));
    }

    private void refuses(TicketClause clause) {
        workers.onMessage(new RelayTicketMessage.Refused(ID, clause, "text"));
    }

    private Ticket ordered(AgentTicketMessage message) throws Exception {
        return ReceivedTicket.read(message, key).ticket();
    }

    @Test
    void a_ticket_goes_from_its_order_to_nodes_and_a_good_end() throws Exception {
        open();
        workers.submitTicket(ID, REQUEST);
        settle();
        Ticket ticket = ordered(said.get(0));
        assertThat(ticket.request()).isEqualTo(REQUEST.withMemory(MEMORY_MIB).withScratch(SCRATCH_MIB));
        assertThat(ticket.epoch()).isEqualTo(1);
        workers.onMessage(update(TicketState.QUEUED, ""));
        now = now.plusSeconds(3);
        workers.onMessage(update(TicketState.RUNNING, ""));
        workers.onMessage(update(TicketState.RUNNING, "2"));
        workers.onWorkerEvent(new WorkerEvent.NodeReady(ID, 1, "n2"));
        workers.releaseTicket(ID);
        workers.onWorkerEvent(new WorkerEvent.NodeGone(ID, 1, EndReason.NONE));
        ends(TicketEnd.COMPLETED);
        workers.resumeTicket(ID);
        settle();
        assertThat(events)
                .containsExactly(
                        new WorkerEvent.Allocated(ID, 2),
                        new WorkerEvent.Passed(ID, 0, WorkerPhase.QUEUE, Duration.ofSeconds(3)),
                        new WorkerEvent.Passed(ID, 1, WorkerPhase.QUEUE, Duration.ofSeconds(3)),
                        new WorkerEvent.NodeReady(ID, 1, "n2"),
                        new WorkerEvent.Ended(ID, EndReason.NONE),
                        new WorkerEvent.Ended(ID, EndReason.NONE));
        assertThat(slots.told).containsExactly("expect " + ID, "release " + ID, "forget " + ID);
        assertThat(witness.told)
                .containsExactly("ordered " + ID, "queued " + ID, "running " + ID, "running " + ID, "ended " + ID);
        try (var files = Files.list(folder.resolve("tickets"))) {
            assertThat(files).extracting(Path::getFileName).containsExactly(Path.of("position"));
        }
    }

    @Test
    void what_was_asked_without_a_relay_is_said_to_the_first_and_again_until_it_is_known() throws Exception {
        workers.submitTicket(ID, REQUEST);
        workers.submitTicket(ID, REQUEST);
        settle();
        assertThat(said).isEmpty();
        open();
        settle();
        Ticket first = ordered(said.get(0));
        workers.onClosed();
        open();
        settle();
        assertThat(ordered(said.get(1))).isEqualTo(first);
        workers.onMessage(update(TicketState.ACCEPTED, ""));
        workers.onClosed();
        open();
        settle();
        assertThat(said).hasSize(3).last().isEqualTo(new AgentTicketMessage.QueryTicket(ID));
    }

    @Test
    void after_a_kill_the_same_ticket_is_said_and_the_next_has_the_next_place() throws Exception {
        open();
        workers.submitTicket(ID, REQUEST);
        settle();
        SigningKey before = key;
        Ticket first = ordered(said.get(0));
        kill();
        start(1);
        workers.resumeTicket(ID);
        open();
        workers.submitTicket("c".repeat(26), REQUEST);
        settle();
        assertThat(before).isNotEqualTo(key);
        assertThat(ordered(said.get(0))).isEqualTo(first);
        assertThat(ordered(said.get(1)).sequence()).isEqualTo(2);
    }

    @Test
    void after_a_boot_the_relay_is_asked_first_and_gets_it_signed_anew_if_it_never_had_it() throws Exception {
        workers.submitTicket(ID, REQUEST);
        kill();
        start(2);
        open();
        settle();
        assertThat(said).containsExactly(new AgentTicketMessage.QueryTicket(ID));
        refuses(TicketClause.PROJECT);
        settle();
        Ticket anew = ordered(said.get(1));
        assertThat(anew.id()).isEqualTo(ID);
        assertThat(anew.epoch()).isEqualTo(2);
        assertThat(anew.sequence()).isEqualTo(1);
        assertThat(ReceivedTicket.read(said.get(1), key).life()).isEqualTo(2);
        assertThat(events).isEmpty();
    }

    @Test
    void after_a_boot_a_ticket_that_the_relay_has_goes_on_and_is_signed_again_as_it_is_once_a_stream()
            throws Exception {
        workers.submitTicket(ID, REQUEST);
        open();
        settle();
        Ticket before = ordered(said.get(0));
        kill();
        start(2);
        for (int stream = 0; stream < 2; stream++) {
            said.clear();
            open();
            workers.onMessage(update(TicketState.RUNNING, "2"));
            workers.onMessage(update(TicketState.RUNNING, "2"));
            settle();
            assertThat(said).hasSize(2).startsWith(new AgentTicketMessage.QueryTicket(ID));
            assertThat(ordered(said.get(1)))
                    .as("the same, by the key of this boot")
                    .isEqualTo(before);
            assertThat(ReceivedTicket.read(said.get(1), key).life())
                    .as("and in its word")
                    .isEqualTo(2);
        }
        assertThat(events).contains(new WorkerEvent.Allocated(ID, 2));
    }

    @Test
    void after_a_boot_what_leaves_is_not_asked_for_by_anybody() throws Exception {
        workers.submitTicket(ID, REQUEST);
        open();
        workers.onMessage(update(TicketState.RUNNING, "2"));
        workers.releaseTicket(ID);
        kill();
        start(2);
        open();
        workers.onMessage(update(TicketState.RUNNING, "2"));
        settle();
        assertThat(said).containsExactly(new AgentTicketMessage.QueryTicket(ID));
    }

    @Test
    void a_ticket_that_grew_old_without_a_relay_is_signed_anew() throws Exception {
        workers.submitTicket(ID, REQUEST);
        settle();
        now = now.plus(Ticket.LONGEST);
        open();
        settle();
        assertThat(said).containsExactly(new AgentTicketMessage.QueryTicket(ID));
        refuses(TicketClause.PROJECT);
        settle();
        Ticket anew = ordered(said.get(1));
        assertThat(anew.issued()).isEqualTo(now);
        assertThat(anew.request().memoryMib()).isEqualTo(MEMORY_MIB);
        assertThat(anew.request().scratchMib()).isEqualTo(SCRATCH_MIB);
    }

    @Test
    void a_book_of_a_later_epoch_or_with_a_strange_file_is_not_taken() throws Exception {
        workers.submitTicket(ID, REQUEST);
        kill();
        start(2);
        workers.submitTicket("c".repeat(26), REQUEST);
        settle();
        Path tickets = folder.resolve("tickets");
        assertThatThrownBy(() -> TicketFolder.open(tickets, 1)).hasMessageContaining("have that of 2");
        Files.copy(tickets.resolve(ID + ".ticket"), tickets.resolve("d".repeat(26) + ".ticket"));
        assertThatThrownBy(() -> TicketFolder.open(tickets, 2))
                .hasMessageContaining("want the file's name, have " + ID);
    }

    @Test
    void a_refusal_says_why_and_whether_waiting_helps() throws Exception {
        open();
        workers.submitTicket(ID, REQUEST);
        refuses(TicketClause.QUOTA);
        settle();
        assertThat(events).hasSize(1);
        EndReason trouble = ((WorkerEvent.Refused) events.get(0)).reason();
        assertThat(trouble.code()).isEqualTo("quota");
        assertThat(trouble.retryable()).isTrue();
        assertThat(trouble.text()).doesNotContain(ID);
        workers.resumeTicket(ID);
        settle();
        assertThat(events.get(1)).isEqualTo(new WorkerEvent.Ended(ID, EndReason.NONE));
    }

    @Test
    void vms_that_do_not_end_after_their_release_are_ended_by_the_site() throws Exception {
        open();
        workers.submitTicket(ID, REQUEST);
        workers.onMessage(update(TicketState.RUNNING, "2"));
        workers.releaseTicket(ID);
        settle();
        assertThat(said).hasSize(1);
        Thread.sleep(2 * PATIENCE.toMillis());
        settle();
        assertThat(said).hasSize(2).last().isInstanceOf(AgentTicketMessage.Withdraw.class);
        ends(TicketEnd.WITHDRAWN);
        settle();
        assertThat(events).last().isEqualTo(new WorkerEvent.Ended(ID, EndReason.NONE));
    }

    @Test
    void a_release_outlives_a_kill() throws Exception {
        open();
        workers.submitTicket(ID, REQUEST);
        workers.onMessage(update(TicketState.RUNNING, "2"));
        workers.releaseTicket(ID);
        kill();
        start(1);
        open();
        workers.onMessage(update(TicketState.RUNNING, "2"));
        settle();
        assertThat(slots.told).containsExactly("expect " + ID, "release " + ID);
    }

    @Test
    void what_nobody_needs_is_taken_back_and_again_until_the_relay_says_that_it_ended() throws Exception {
        workers.withdrawTicket(ID);
        settle();
        assertThat(events).containsExactly(new WorkerEvent.Ended(ID, EndReason.NONE));
        events.clear();
        open();
        workers.submitTicket(ID, REQUEST);
        workers.withdrawTicket(ID);
        workers.onMessage(update(TicketState.RUNNING, "2"));
        workers.onWorkerEvent(new WorkerEvent.NodeReady(ID, 0, "n1"));
        workers.onClosed();
        open();
        settle();
        assertThat(said).hasSize(3);
        assertThat(said.subList(1, 3)).allMatch(AgentTicketMessage.Withdraw.class::isInstance);
        assertThat(events).isEmpty();
        // A relay that never had it knows nothing of it: that is its end too.
        refuses(TicketClause.PROJECT);
        settle();
        assertThat(events).containsExactly(new WorkerEvent.Ended(ID, EndReason.NONE));
    }

    @Test
    void of_a_ticket_that_has_ended_the_relay_is_asked_for_parts_until_nobody_waits_for_any() throws Exception {
        String other = "d".repeat(26);
        witness.waits.add(other);
        open();
        settle();
        assertThat(said).containsExactly(new AgentTicketMessage.QueryTicket(other));
        workers.onMessage(new RelayTicketMessage.ForwardedStatement(other, 1, ByteString.EMPTY, List.of()));
        workers.onMessage(new RelayTicketMessage.Refused(other, TicketClause.PROJECT, "text"));
        settle();
        assertThat(witness.told).containsExactly("part " + other + " 1", "forgotten " + other);
        assertThat(events).isEmpty();
    }

    @Test
    void a_ticket_that_no_relay_took_has_no_receipt() throws Exception {
        open();
        workers.submitTicket(ID, REQUEST);
        refuses(TicketClause.LIMIT);
        settle();
        assertThat(witness.told).containsExactly("ordered " + ID, "dropped " + ID);
    }

    @Test
    void an_allocation_that_is_not_the_tickets_is_taken_back() throws Exception {
        open();
        workers.submitTicket(ID, REQUEST);
        workers.onMessage(update(TicketState.RUNNING, "another's"));
        settle();
        assertThat(said).last().isInstanceOf(AgentTicketMessage.Withdraw.class);
        assertThat(events).isEmpty();
    }

    @Test
    void a_ticket_that_the_site_ends_says_how() throws Exception {
        open();
        workers.submitTicket(ID, REQUEST);
        workers.onMessage(update(TicketState.RUNNING, "2"));
        ends(TicketEnd.NODE_FAILED);
        settle();
        EndReason trouble = ((WorkerEvent.Ended) events.get(events.size() - 1)).reason();
        assertThat(trouble.code()).isEqualTo("node-failed");
        assertThat(trouble.phase()).isEqualTo(WorkerPhase.REGISTRATION);
    }
}
