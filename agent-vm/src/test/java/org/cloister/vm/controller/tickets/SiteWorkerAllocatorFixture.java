package org.cloister.vm.controller.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import java.io.IOException;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** An allocator whose relay, workers and clock are the test's. */
@SuppressWarnings("NullAway.Init") // start sets the fields
abstract class SiteWorkerAllocatorFixture {
    static final String PROJECT = "a".repeat(52);
    static final String ID = "b".repeat(26);
    static final Duration TIMEOUT = Duration.ofMillis(200);
    static final ResourceRequest REQUEST =
            new ResourceRequest(2, OptionalInt.of(2), 1, OptionalInt.of(1), 64, 64, false, 10, List.of());
    static final MemoryReserves RESERVES = new MemoryReserves(new MemoryReserve(256, 64), new MemoryReserve(192, 256));
    /** 64, 256 + 1 for the guest and 192 + 2 for QEMU. */
    static final int MEMORY_MIB = 515;
    /** 64, 2 for inodes, 8 for the file system and 16 for LUKS2. */
    static final int SCRATCH_MIB = 90;

    @TempDir
    Path folder;

    final List<AgentTicketMessage> sent = new ArrayList<>();
    final List<WorkerEvent> events = new ArrayList<>();
    final FakeWorkerSlots slots = new FakeWorkerSlots();
    final FakeTicketRecorder recorder = new FakeTicketRecorder();
    Instant now = Instant.parse("2026-06-02T09:00:00Z");
    SigningKey key;
    ScheduledExecutorService decisions;
    SiteWorkerAllocator workers;

    @BeforeEach
    void start() throws Exception {
        start(1);
    }

    @AfterEach
    void stop() {
        decisions.shutdownNow();
    }

    /** As after a boot of the controlling VM, or, with the epoch of the one before, after a kill of its agent. */
    void start(long epoch) throws IOException {
        key = SigningKey.of(BootFixture.pair(SignatureCurve.P384));
        decisions = Executors.newSingleThreadScheduledExecutor();
        workers = new SiteWorkerAllocator(
                new SiteWorkerAllocator.Settings(PROJECT, key, RESERVES, TIMEOUT),
                TicketFolder.open(folder.resolve("tickets"), epoch),
                slots,
                recorder,
                decisions,
                () -> now);
        workers.start(events::add);
    }

    void kill() throws Exception {
        settle();
        decisions.shutdownNow();
        sent.clear();
        events.clear();
        slots.recorded.clear();
    }

    void settle() throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        decisions.execute(done::countDown);
        assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
    }

    void open() {
        workers.onOpen(sent::add);
    }

    static RelayTicketMessage.Update update(TicketState state, String allocation) {
        return new RelayTicketMessage.Update(
                ID, state, Optional.empty(), "", 7, ByteString.copyFromUtf8(allocation), ByteString.EMPTY);
    }

    void ends(TicketEnd end) {
        workers.onMessage(new RelayTicketMessage.Update(
                ID, TicketState.ENDED, Optional.of(end), "", 0, ByteString.EMPTY, ByteString.EMPTY));
    }

    void refuses(TicketClause clause) {
        workers.onMessage(new RelayTicketMessage.Refused(ID, clause, "text"));
    }

    Ticket ordered(AgentTicketMessage message) throws Exception {
        return ReceivedTicket.read(message, key).ticket();
    }
}
