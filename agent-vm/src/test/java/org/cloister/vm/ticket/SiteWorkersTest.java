package org.cloister.vm.ticket;

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
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.handover.BootWorld;
import org.cloister.protocol.ticket.MemoryReserves;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.Reserve;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.vm.worker.Phase;
import org.cloister.vm.worker.WorkerEvent;
import org.cloister.vm.worker.WorkerEvent.Trouble;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is said to the relay and told to the queue, whatever is lost, late or killed on the way. */
class SiteWorkersTest {
    private static final String PROJECT = "a".repeat(52);
    private static final String ID = "b".repeat(26);
    private static final Duration PATIENCE = Duration.ofMillis(200);
    private static final ResourceRequest REQUEST =
            new ResourceRequest(2, OptionalInt.of(2), 1, OptionalInt.of(1), 64, 64, false, 10, List.of());
    private static final MemoryReserves RESERVES = new MemoryReserves(new Reserve(256, 64), new Reserve(192, 256));
    /** 64, 256 + 1 for the guest and 192 + 2 for QEMU. */
    private static final int MEMORY_MIB = 515;
    /** 64, 2 for inodes, 8 for the file system and 16 for LUKS2. */
    private static final int SCRATCH_MIB = 90;

    @TempDir
    private Path folder;

    private final List<PartyMessage> said = new ArrayList<>();
    private final List<WorkerEvent> events = new ArrayList<>();
    private final FakeSlots slots = new FakeSlots();
    private final FakeWitness witness = new FakeWitness();
    private Instant now = Instant.parse("2026-06-02T09:00:00Z");
    private SigningKey key;
    private ScheduledExecutorService decisions;
    private SiteWorkers workers;

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
        key = SigningKey.of(BootWorld.pair(Curve.P384));
        decisions = Executors.newSingleThreadScheduledExecutor();
        workers = new SiteWorkers(
                new SiteWorkers.Terms(PROJECT, key, RESERVES, PATIENCE),
                TicketBook.open(folder.resolve("tickets"), epoch),
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
        workers.open(said::add);
    }

    private static OfficeMessage.Update update(TicketState state, String allocation) {
        return new OfficeMessage.Update(
                ID, state, Optional.empty(), "", 7, ByteString.copyFromUtf8(allocation), ByteString.EMPTY);
    }

    private void ends(TicketEnd end) {
        workers.heard(new OfficeMessage.Update(
                ID, TicketState.ENDED, Optional.of(end), "", 0, ByteString.EMPTY, ByteString.EMPTY));
    }

    private void refuses(TicketClause clause) {
        workers.heard(new OfficeMessage.Refused(ID, clause, "text"));
    }

    private Ticket ordered(PartyMessage message) throws Exception {
        return Ordered.read(message, key).ticket();
    }

    @Test
    void a_ticket_goes_from_its_order_to_nodes_and_a_good_end() throws Exception {
        open();
        workers.ask(ID, REQUEST);
        settle();
        Ticket ticket = ordered(said.get(0));
        assertThat(ticket.request()).isEqualTo(REQUEST.withMemory(MEMORY_MIB).withScratch(SCRATCH_MIB));
        assertThat(ticket.epoch()).isEqualTo(1);
        workers.heard(update(TicketState.QUEUED, ""));
        now = now.plusSeconds(3);
        workers.heard(update(TicketState.RUNNING, ""));
        workers.heard(update(TicketState.RUNNING, "2"));
        workers.tell(new WorkerEvent.NodeReady(ID, 1, "n2"));
        workers.release(ID);
        workers.tell(new WorkerEvent.NodeGone(ID, 1, Trouble.NONE));
        ends(TicketEnd.COMPLETED);
        workers.follow(ID);
        settle();
        assertThat(events)
                .containsExactly(
                        new WorkerEvent.Allocated(ID, 2),
                        new WorkerEvent.Passed(ID, 0, Phase.QUEUE, Duration.ofSeconds(3)),
                        new WorkerEvent.Passed(ID, 1, Phase.QUEUE, Duration.ofSeconds(3)),
                        new WorkerEvent.NodeReady(ID, 1, "n2"),
                        new WorkerEvent.Ended(ID, Trouble.NONE),
                        new WorkerEvent.Ended(ID, Trouble.NONE));
        assertThat(slots.told).containsExactly("expect " + ID, "release " + ID, "forget " + ID);
        assertThat(witness.told)
                .containsExactly("ordered " + ID, "queued " + ID, "running " + ID, "running " + ID, "ended " + ID);
        try (var files = Files.list(folder.resolve("tickets"))) {
            assertThat(files).extracting(Path::getFileName).containsExactly(Path.of("position"));
        }
    }

    @Test
    void what_was_asked_without_a_relay_is_said_to_the_first_and_again_until_it_is_known() throws Exception {
        workers.ask(ID, REQUEST);
        workers.ask(ID, REQUEST);
        settle();
        assertThat(said).isEmpty();
        open();
        settle();
        Ticket first = ordered(said.get(0));
        workers.closed();
        open();
        settle();
        assertThat(ordered(said.get(1))).isEqualTo(first);
        workers.heard(update(TicketState.ACCEPTED, ""));
        workers.closed();
        open();
        settle();
        assertThat(said).hasSize(3).last().isEqualTo(new PartyMessage.Ask(ID));
    }

    @Test
    void after_a_kill_the_same_ticket_is_said_and_the_next_has_the_next_place() throws Exception {
        open();
        workers.ask(ID, REQUEST);
        settle();
        SigningKey before = key;
        Ticket first = ordered(said.get(0));
        kill();
        start(1);
        workers.follow(ID);
        open();
        workers.ask("c".repeat(26), REQUEST);
        settle();
        assertThat(before).isNotEqualTo(key);
        assertThat(ordered(said.get(0))).isEqualTo(first);
        assertThat(ordered(said.get(1)).sequence()).isEqualTo(2);
    }

    @Test
    void after_a_boot_the_relay_is_asked_first_and_gets_it_signed_anew_if_it_never_had_it() throws Exception {
        workers.ask(ID, REQUEST);
        kill();
        start(2);
        open();
        settle();
        assertThat(said).containsExactly(new PartyMessage.Ask(ID));
        refuses(TicketClause.PROJECT);
        settle();
        Ticket anew = ordered(said.get(1));
        assertThat(anew.id()).isEqualTo(ID);
        assertThat(anew.epoch()).isEqualTo(2);
        assertThat(anew.sequence()).isEqualTo(1);
        assertThat(Ordered.read(said.get(1), key).life()).isEqualTo(2);
        assertThat(events).isEmpty();
    }

    @Test
    void after_a_boot_a_ticket_that_the_relay_has_goes_on_and_is_signed_again_as_it_is_once_a_stream()
            throws Exception {
        workers.ask(ID, REQUEST);
        open();
        settle();
        Ticket before = ordered(said.get(0));
        kill();
        start(2);
        for (int stream = 0; stream < 2; stream++) {
            said.clear();
            open();
            workers.heard(update(TicketState.RUNNING, "2"));
            workers.heard(update(TicketState.RUNNING, "2"));
            settle();
            assertThat(said).hasSize(2).startsWith(new PartyMessage.Ask(ID));
            assertThat(ordered(said.get(1)))
                    .as("the same, by the key of this boot")
                    .isEqualTo(before);
            assertThat(Ordered.read(said.get(1), key).life())
                    .as("and in its word")
                    .isEqualTo(2);
        }
        assertThat(events).contains(new WorkerEvent.Allocated(ID, 2));
    }

    @Test
    void after_a_boot_what_leaves_is_not_asked_for_by_anybody() throws Exception {
        workers.ask(ID, REQUEST);
        open();
        workers.heard(update(TicketState.RUNNING, "2"));
        workers.release(ID);
        kill();
        start(2);
        open();
        workers.heard(update(TicketState.RUNNING, "2"));
        settle();
        assertThat(said).containsExactly(new PartyMessage.Ask(ID));
    }

    @Test
    void a_ticket_that_grew_old_without_a_relay_is_signed_anew() throws Exception {
        workers.ask(ID, REQUEST);
        settle();
        now = now.plus(Ticket.LONGEST);
        open();
        settle();
        assertThat(said).containsExactly(new PartyMessage.Ask(ID));
        refuses(TicketClause.PROJECT);
        settle();
        Ticket anew = ordered(said.get(1));
        assertThat(anew.issued()).isEqualTo(now);
        assertThat(anew.request().memoryMib()).isEqualTo(MEMORY_MIB);
        assertThat(anew.request().scratchMib()).isEqualTo(SCRATCH_MIB);
    }

    @Test
    void a_book_of_a_later_epoch_or_with_a_strange_file_is_not_taken() throws Exception {
        workers.ask(ID, REQUEST);
        kill();
        start(2);
        workers.ask("c".repeat(26), REQUEST);
        settle();
        Path tickets = folder.resolve("tickets");
        assertThatThrownBy(() -> TicketBook.open(tickets, 1)).hasMessageContaining("have that of 2");
        Files.copy(tickets.resolve(ID + ".ticket"), tickets.resolve("d".repeat(26) + ".ticket"));
        assertThatThrownBy(() -> TicketBook.open(tickets, 2)).hasMessageContaining("want the file's name, have " + ID);
    }

    @Test
    void a_refusal_says_why_and_whether_waiting_helps() throws Exception {
        open();
        workers.ask(ID, REQUEST);
        refuses(TicketClause.QUOTA);
        settle();
        assertThat(events).hasSize(1);
        Trouble trouble = ((WorkerEvent.Refused) events.get(0)).trouble();
        assertThat(trouble.code()).isEqualTo("quota");
        assertThat(trouble.passing()).isTrue();
        assertThat(trouble.text()).doesNotContain(ID);
        workers.follow(ID);
        settle();
        assertThat(events.get(1)).isEqualTo(new WorkerEvent.Ended(ID, Trouble.NONE));
    }

    @Test
    void vms_that_do_not_end_after_their_release_are_ended_by_the_site() throws Exception {
        open();
        workers.ask(ID, REQUEST);
        workers.heard(update(TicketState.RUNNING, "2"));
        workers.release(ID);
        settle();
        assertThat(said).hasSize(1);
        Thread.sleep(2 * PATIENCE.toMillis());
        settle();
        assertThat(said).hasSize(2).last().isInstanceOf(PartyMessage.Withdraw.class);
        ends(TicketEnd.WITHDRAWN);
        settle();
        assertThat(events).last().isEqualTo(new WorkerEvent.Ended(ID, Trouble.NONE));
    }

    @Test
    void a_release_outlives_a_kill() throws Exception {
        open();
        workers.ask(ID, REQUEST);
        workers.heard(update(TicketState.RUNNING, "2"));
        workers.release(ID);
        kill();
        start(1);
        open();
        workers.heard(update(TicketState.RUNNING, "2"));
        settle();
        assertThat(slots.told).containsExactly("expect " + ID, "release " + ID);
    }

    @Test
    void what_nobody_needs_is_taken_back_and_again_until_the_relay_says_that_it_ended() throws Exception {
        workers.withdraw(ID);
        settle();
        assertThat(events).containsExactly(new WorkerEvent.Ended(ID, Trouble.NONE));
        events.clear();
        open();
        workers.ask(ID, REQUEST);
        workers.withdraw(ID);
        workers.heard(update(TicketState.RUNNING, "2"));
        workers.tell(new WorkerEvent.NodeReady(ID, 0, "n1"));
        workers.closed();
        open();
        settle();
        assertThat(said).hasSize(3);
        assertThat(said.subList(1, 3)).allMatch(PartyMessage.Withdraw.class::isInstance);
        assertThat(events).isEmpty();
        // A relay that never had it knows nothing of it: that is its end too.
        refuses(TicketClause.PROJECT);
        settle();
        assertThat(events).containsExactly(new WorkerEvent.Ended(ID, Trouble.NONE));
    }

    @Test
    void of_a_ticket_that_has_ended_the_relay_is_asked_for_parts_until_nobody_waits_for_any() throws Exception {
        String other = "d".repeat(26);
        witness.waits.add(other);
        open();
        settle();
        assertThat(said).containsExactly(new PartyMessage.Ask(other));
        workers.heard(new OfficeMessage.Part(other, 1, ByteString.EMPTY, List.of()));
        workers.heard(new OfficeMessage.Refused(other, TicketClause.PROJECT, "text"));
        settle();
        assertThat(witness.told).containsExactly("part " + other + " 1", "forgotten " + other);
        assertThat(events).isEmpty();
    }

    @Test
    void a_ticket_that_no_relay_took_has_no_receipt() throws Exception {
        open();
        workers.ask(ID, REQUEST);
        refuses(TicketClause.LIMIT);
        settle();
        assertThat(witness.told).containsExactly("ordered " + ID, "dropped " + ID);
    }

    @Test
    void an_allocation_that_is_not_the_tickets_is_taken_back() throws Exception {
        open();
        workers.ask(ID, REQUEST);
        workers.heard(update(TicketState.RUNNING, "another's"));
        settle();
        assertThat(said).last().isInstanceOf(PartyMessage.Withdraw.class);
        assertThat(events).isEmpty();
    }

    @Test
    void a_ticket_that_the_site_ends_says_how() throws Exception {
        open();
        workers.ask(ID, REQUEST);
        workers.heard(update(TicketState.RUNNING, "2"));
        ends(TicketEnd.NODE_FAILED);
        settle();
        Trouble trouble = ((WorkerEvent.Ended) events.get(events.size() - 1)).trouble();
        assertThat(trouble.code()).isEqualTo("node-failed");
        assertThat(trouble.phase()).isEqualTo(Phase.REGISTRATION);
    }
}
