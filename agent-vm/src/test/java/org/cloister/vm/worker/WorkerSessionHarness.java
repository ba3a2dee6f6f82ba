package org.cloister.vm.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
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
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.boot.AgentVmStatusFile;
import org.cloister.vm.boot.AssignmentPoller;
import org.cloister.vm.boot.BootJournal;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.boot.VmTrustStore;
import org.cloister.vm.controller.admission.AdmissionContext;
import org.cloister.vm.controller.admission.AdmittedWorkers;
import org.cloister.vm.controller.admission.CountedAdmissionMetrics;
import org.cloister.vm.controller.admission.HandoverLedger;
import org.cloister.vm.controller.admission.WorkerAdmission;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.cloister.vm.metrics.VmMetrics;
import org.cloister.vm.worker.state.WorkerStateMachine;
import org.cloister.vm.worker.steps.AcceptedHandover;
import org.cloister.vm.worker.steps.NodeSetup;
import org.cloister.vm.worker.steps.SetupStep;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A worker and its controlling VM's admission, over real links and circuits in one process; its machine alone is the test's. */
@Timeout(120)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
abstract class WorkerSessionHarness {
    static final long TIMEOUT_S = 40;

    final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    final KeptStatements recorder = new KeptStatements();
    final ExecutorService decisions = Executors.newSingleThreadExecutor();
    final BlockingQueue<WorkerEvent> events = new LinkedBlockingQueue<>();
    final CountedAdmissionMetrics counts = new CountedAdmissionMetrics();
    final RecordedSetup machine = new RecordedSetup();
    final VmMetrics metrics = new VmMetrics();

    /** Of the worker's time. */
    final AtomicLong ahead = new AtomicLong();

    /** By which a worker judges before its controlling VM has set it. */
    InstantSource workersClock = InstantSource.system();

    @TempDir
    Path folder;

    WorkerFixture fixture;
    InProcessRelay relay;
    WorkerAdmission admission;
    BootKeyPairs keys;
    AgentLink controllers;
    AgentLink workers;
    volatile WorkerVm worker;

    /** Steps that are said and not done. */
    static final class RecordedSetup implements NodeSetup {
        final BlockingQueue<String> log = new LinkedBlockingQueue<>();
        volatile Optional<SetupStep> fails = Optional.empty();
        volatile boolean readmissionFails;
        volatile Optional<AcceptedHandover> handover = Optional.empty();

        @Override
        public void apply(SetupStep step, AcceptedHandover handed) throws IOException {
            log.add(step.toString());
            handover = Optional.of(handed);
            if (fails.equals(Optional.of(step))) {
                throw new IOException("as the test wants it");
            }
        }

        @Override
        public void applyReadmission(AcceptedHandover handed, boolean opened) throws IOException {
            handover = Optional.of(handed);
            log.add("readmitted" + (opened ? " by another" : ""));
            if (readmissionFails) {
                throw new IOException("as the test wants it");
            }
        }

        @Override
        public void undo(SetupStep step, boolean failed) {
            log.add("not " + step + (failed ? " failed" : ""));
        }

        @Override
        public Optional<Instant> scratchErasedAt() {
            return Optional.of(Instant.now());
        }

        @Override
        public void powerOff() {
            log.add("off");
        }
    }

    @BeforeEach
    void start() throws Exception {
        fixture = new WorkerFixture();
        relay = new InProcessRelay(loops);
        relay.lists.add(ByteString.copyFrom(fixture.revocations));
        relay.assignment = request -> fixture.told();
        relay.host = request -> fixture.vouch(WorkerFixture.IMAGE, request.claim());
        open(fixture.controllers);
        for (int i = 0; i < 400 && !relay.serves(fixture.controller); i++) {
            Thread.sleep(10);
        }
        keys = BootKeyPairs.generate(fixture.secrets);
    }

    /** A controlling VM, with what the drive has of one before it. */
    private void open(TlsCredential own) throws Exception {
        TrustStore trustStore = new TrustStore(
                TrustAnchors.none().withProject(fixture.project), RevocationLists.none(), InstantSource.system());
        AdmissionContext context = new AdmissionContext(
                () -> own,
                trustStore,
                envelope -> fixture.allocation(),
                fixture.policy,
                new AdmissionContext.HostTrust(key -> false, key -> false),
                false);
        admission = new WorkerAdmission(
                context,
                new WorkerAdmission.Stores(
                        HandoverLedger.open(folder.resolve("spent")), AdmittedWorkers.open(folder.resolve("guests"))),
                fixture,
                recorder,
                new WorkerAdmission.Threads(decisions, decisions),
                InstantSource.system(),
                counts);
        onDecisionThread(() -> {
            admission.start(events::add);
            return admission.expectWorkers(fixture.ticket, fixture.update());
        });
        EventLoop loop = loops.next();
        controllers = new AgentLink(
                loop, relay.dialler(loop), "a controlling VM", trustStore, new ControllerEvents(), new Random(1));
    }

    /** The one that there was is gone. */
    void reopen() throws Exception {
        controllers.close();
        fixture.present = Optional.of(fixture.reopened);
        open(fixture.reopened.own());
    }

    void onDecisionThread(java.util.concurrent.Callable<?> work) throws Exception {
        decisions.submit(work).get(10, TimeUnit.SECONDS);
    }

    final class ControllerEvents implements AgentLinkListener {
        @Override
        public void onAttached(AgentAttachStream attachment) {
            attachment.serve(fixture.controller);
        }

        @Override
        public void onServed(CertificateName name, Optional<CloseReason> refused) {}

        @Override
        public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
            admission.onDial(attachment, dial);
        }

        @Override
        public void onLost(String why) {}
    }

    /** From the question what it is, as in a VM. */
    void boot() throws IOException {
        AgentVmStatusFile status = AgentVmStatusFile.create(folder.resolve("run/agent-vm.status"));
        TrustStore trustStore = new TrustStore(TrustAnchors.none(), RevocationLists.none(), workersClock);
        EventLoop loop = loops.next();
        AssignmentPoller assigning = new AssignmentPoller(
                new VmTrustStore(trustStore),
                assignment -> {
                    try {
                        worker = new WorkerVm(
                                WorkerIdentity.create(assignment, keys, trustStore, workersClock, new SecureRandom()),
                                WorkerStateMachine.create(Duration.ofSeconds(3), System.nanoTime()),
                                machine,
                                BootJournal.open(folder.resolve("run")),
                                new WorkerVm.Environment(
                                        status, metrics, workersClock, () -> System.nanoTime() + ahead.get()));
                        return worker;
                    } catch (IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                },
                machine::powerOff);
        workers = new AgentLink(loop, relay.dialler(loop), "a worker", trustStore, assigning, new Random(2));
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
        fixture.mungeKey.close();
        fixture.newKey.close();
        assertThat(fixture.secrets.liveCount()).as("secrets that nobody zeroed").isZero();
    }

    <T extends WorkerEvent> T next(Class<T> kind) throws InterruptedException {
        for (WorkerEvent event = events.poll(TIMEOUT_S, TimeUnit.SECONDS);
                event != null;
                event = events.poll(TIMEOUT_S, TimeUnit.SECONDS)) {
            if (kind.isInstance(event)) {
                return kind.cast(event);
            }
        }
        throw new AssertionError("no " + kind.getSimpleName() + " within " + TIMEOUT_S + " s");
    }

    void awaitLog(String line) throws InterruptedException {
        for (String each = machine.log.poll(TIMEOUT_S, TimeUnit.SECONDS);
                each != null;
                each = machine.log.poll(TIMEOUT_S, TimeUnit.SECONDS)) {
            if (each.equals(line)) {
                return;
            }
        }
        throw new AssertionError("no \"" + line + "\" within " + TIMEOUT_S + " s");
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
        assertThat(next(WorkerEvent.NodeReady.class).node())
                .isEqualTo(WorkerName.label(WorkerFixture.TICKET, WorkerFixture.SLOT));
    }
}
