package org.cloister.vm.joining;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.cloister.protocol.handover.SlotName;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.vm.VmMetrics;
import org.cloister.vm.boot.Assigning;
import org.cloister.vm.boot.Begun;
import org.cloister.vm.boot.Believed;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.boot.BootStatus;
import org.cloister.vm.handover.GuestBook;
import org.cloister.vm.handover.HandOverDesk;
import org.cloister.vm.handover.SpentBook;
import org.cloister.vm.worker.WorkerEvent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A worker and its controlling VM's desk, over real links and circuits in one process; its machine alone is the test's. */
@Timeout(120)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
abstract class Conversation {
    static final long PATIENCE_S = 40;

    final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    final KeptParts lives = new KeptParts();
    final ExecutorService decisions = Executors.newSingleThreadExecutor();
    final BlockingQueue<WorkerEvent> news = new LinkedBlockingQueue<>();
    final AtomicLong strangers = new AtomicLong();
    final Machine machine = new Machine();
    final VmMetrics metrics = new VmMetrics();

    /** Of the worker's time. */
    final AtomicLong ahead = new AtomicLong();

    /** By which a worker judges before its controlling VM has set it. */
    InstantSource workersClock = InstantSource.system();

    @TempDir
    Path folder;

    World world;
    SmallRelay relay;
    HandOverDesk desk;
    BootKeyPairs keys;
    AgentLink controllers;
    AgentLink workers;
    volatile Worker worker;

    /** Steps that are said and not done. */
    static final class Machine implements Steps {
        final BlockingQueue<String> log = new LinkedBlockingQueue<>();
        volatile Optional<Step> fails = Optional.empty();
        volatile boolean readmissionFails;
        volatile Optional<HandedOver> given = Optional.empty();

        @Override
        public void take(Step step, HandedOver handed) throws IOException {
            log.add(step.toString());
            given = Optional.of(handed);
            if (fails.equals(Optional.of(step))) {
                throw new IOException("as the test wants it");
            }
        }

        @Override
        public void readmit(HandedOver handed, boolean opened) throws IOException {
            given = Optional.of(handed);
            log.add("readmitted" + (opened ? " by another" : ""));
            if (readmissionFails) {
                throw new IOException("as the test wants it");
            }
        }

        @Override
        public void undo(Step step, boolean failed) {
            log.add("not " + step + (failed ? " failed" : ""));
        }

        @Override
        public Optional<Instant> erased() {
            return Optional.of(Instant.now());
        }

        @Override
        public void powerOff() {
            log.add("off");
        }
    }

    @BeforeEach
    void start() throws Exception {
        world = new World(Files.createDirectory(folder.resolve("statements")));
        relay = new SmallRelay(loops);
        relay.lists.add(ByteString.copyFrom(world.revocations));
        relay.assignment = asked -> world.told();
        relay.host = asked -> world.vouch(World.IMAGE, asked.claim());
        open(world.controllers);
        for (int i = 0; i < 400 && !relay.serves(world.controller); i++) {
            Thread.sleep(10);
        }
        keys = BootKeyPairs.make(world.secrets, new SecureRandom());
    }

    /** A controlling VM, with what the drive has of one before it. */
    private void open(Credential own) throws Exception {
        Beliefs beliefs =
                new Beliefs(Anchors.none().withProject(world.project), RevocationLists.none(), InstantSource.system());
        HandOverDesk.Terms terms = new HandOverDesk.Terms(
                () -> own,
                beliefs,
                envelope -> world.allocation(),
                world.policy,
                new HandOverDesk.Hosts(key -> false, key -> false),
                false);
        desk = new HandOverDesk(
                terms,
                new HandOverDesk.Books(
                        SpentBook.open(folder.resolve("spent")), GuestBook.open(folder.resolve("guests"))),
                world,
                lives,
                decisions,
                InstantSource.system(),
                new HandOverDesk.Reports(news::add, strangers::incrementAndGet));
        onDesk(() -> desk.expect(world.ticket, world.update()));
        EventLoop loop = loops.next();
        controllers = new AgentLink(
                loop, relay.dialler(loop), "a controlling VM", beliefs, new ControllerEvents(), new Random(1));
    }

    /** The one that there was is gone. */
    void reopen() throws Exception {
        controllers.close();
        world.present = Optional.of(world.reopened);
        open(world.reopened.own());
    }

    void onDesk(java.util.concurrent.Callable<?> work) throws Exception {
        decisions.submit(work).get(10, TimeUnit.SECONDS);
    }

    final class ControllerEvents implements AgentEvents {
        @Override
        public void attached(Attachment attachment) {
            attachment.serve(world.controller);
        }

        @Override
        public void served(Name name, Optional<CloseReason> refused) {}

        @Override
        public void dialled(Attachment attachment, RelayMessage.Dial dial) {
            desk.dialled(attachment, dial);
        }

        @Override
        public boolean revoked(byte[] signed) {
            return false;
        }

        @Override
        public void lost(String why) {}
    }

    /** From the question what it is, as in a VM. */
    void boot() throws IOException {
        BootStatus status = BootStatus.begin(folder.resolve("run/agent-vm.status"));
        Beliefs beliefs = new Beliefs(Anchors.none(), RevocationLists.none(), workersClock);
        EventLoop loop = loops.next();
        Assigning assigning = new Assigning(
                new Believed(beliefs),
                assignment -> {
                    try {
                        worker = new Worker(
                                WorkerLife.begin(assignment, keys, beliefs, workersClock, new SecureRandom()),
                                Course.assigned(Duration.ofSeconds(3), System.nanoTime()),
                                machine,
                                Begun.open(folder.resolve("run")),
                                new Worker.Reports(
                                        status, metrics, workersClock, () -> System.nanoTime() + ahead.get()));
                        return worker;
                    } catch (IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                },
                machine::powerOff);
        workers = new AgentLink(loop, relay.dialler(loop), "a worker", beliefs, assigning, new Random(2));
    }

    @AfterEach
    void stop() {
        if (workers != null) {
            workers.close();
        }
        if (worker != null) {
            worker.close();
        }
        controllers.close();
        relay.close();
        decisions.shutdownNow();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        keys.close();
        world.mungeKey.close();
        world.newKey.close();
        assertThat(world.secrets.live()).as("secrets that nobody zeroed").isZero();
    }

    <T extends WorkerEvent> T next(Class<T> kind) throws InterruptedException {
        for (WorkerEvent event = news.poll(PATIENCE_S, TimeUnit.SECONDS);
                event != null;
                event = news.poll(PATIENCE_S, TimeUnit.SECONDS)) {
            if (kind.isInstance(event)) {
                return kind.cast(event);
            }
        }
        throw new AssertionError("no " + kind.getSimpleName() + " within " + PATIENCE_S + " s");
    }

    void awaitLog(String line) throws InterruptedException {
        for (String each = machine.log.poll(PATIENCE_S, TimeUnit.SECONDS);
                each != null;
                each = machine.log.poll(PATIENCE_S, TimeUnit.SECONDS)) {
            if (each.equals(line)) {
                return;
            }
        }
        throw new AssertionError("no \"" + line + "\" within " + PATIENCE_S + " s");
    }

    List<String> phases(int count) throws InterruptedException {
        List<String> phases = new java.util.ArrayList<>();
        for (int i = 0; i < count; i++) {
            phases.add(next(WorkerEvent.Passed.class).phase().toString());
        }
        return phases;
    }

    void ready() throws Exception {
        boot();
        assertThat(phases(5)).containsExactly("boot", "evidence", "keys", "tunnel", "registration");
        assertThat(next(WorkerEvent.NodeReady.class).node()).isEqualTo(SlotName.label(World.TICKET, World.SLOT));
    }
}
