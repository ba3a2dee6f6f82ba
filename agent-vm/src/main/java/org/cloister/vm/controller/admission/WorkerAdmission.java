package org.cloister.vm.controller.admission;

import io.netty.channel.ChannelPipeline;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.evidence.EvidenceClause;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.BootPeerVerifier;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.PeriodicCheck;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.boot.UnauthenticatedPeerCounter;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.cloister.vm.controller.tickets.WorkerSlots;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts circuits of workers of the project's tickets, appraises their evidence and hands credentials over to them,
 * once per slot. Over these circuits the workers then report their progress, and learn that they are released or that
 * their certificates were revoked. Before a slot's host has signed for the peer of a circuit, no message on it changes
 * anything. One thread makes all decisions; what blocks is done by another, for all workers that are ready together.
 */
public final class WorkerAdmission implements WorkerSlots, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerAdmission.class);

    private final AdmissionContext context;
    private final ProvisioningQueue provisioning;
    private final WorkerReadmission readmission;
    private final HandoverRecorder recorder;
    private final Executor decisions;
    private final InstantSource clock;
    private final AdmissionMetrics metrics;
    private final ExpectedWorkers expected = new ExpectedWorkers();
    /** Sessions of admitted workers by name; one session per worker is accepted at a time. */
    private final Map<CertificateName, WorkerSession> sessions = new HashMap<>();

    private final BootCircuits bootCircuits;
    private final ProvisioningOutcomes outcomes;
    private final UnauthenticatedPeerCounter unauthenticatedPeers;
    /** Counts broken boot circuits, which include those of genuine workers. */
    private final UnauthenticatedPeerCounter brokenCircuits = new UnauthenticatedPeerCounter(() -> {});

    private final RevocationWatch revocationWatch;
    private final JointReadmission<ResumeRequest> jointReadmission = new JointReadmission<>();
    private final PeriodicCheck periodicCheck;
    private final Set<String> released = new HashSet<>();
    private Consumer<WorkerEvent> events = event -> {};

    private record ResumeRequest(CertificateName worker, WorkerSession session, VmMessage.Resume resume) {}

    /** Records of hand-overs on the project's drive. */
    public record Stores(HandoverLedger handovers, AdmittedWorkers admitted) {}

    /**
     * Single threads.
     *
     * @param decisions also makes the calls of {@link WorkerSlots}; nothing on it waits for a disk or a program
     * @param provisioning writes the stores, and calls the provisioner and the recorder of hand-overs
     */
    public record Threads(Executor decisions, Executor provisioning) {}

    public WorkerAdmission(
            AdmissionContext context,
            Stores stores,
            Provisioner provisioner,
            HandoverRecorder recorder,
            Threads threads,
            InstantSource clock,
            AdmissionMetrics metrics) {
        this.context = context;
        this.decisions = threads.decisions();
        this.provisioning = new ProvisioningQueue(
                threads.provisioning(),
                new ProvisioningBatch(stores, provisioner, recorder, this::onProvisioned)::carryOut);
        this.readmission = new WorkerReadmission(stores.admitted(), context, provisioner);
        this.unauthenticatedPeers = new UnauthenticatedPeerCounter(metrics::unauthenticatedPeer);
        this.bootCircuits = new BootCircuits(
                new WorkerAttestation(context, stores.handovers(), unauthenticatedPeers),
                readmission,
                unauthenticatedPeers,
                clock,
                provisioning::add,
                this::acceptMessagesOf,
                this::report);
        this.outcomes = new ProvisioningOutcomes(expected, bootCircuits, released::contains);
        this.revocationWatch = new RevocationWatch(context, expected, readmission, decisions, this::onRevoked);
        this.recorder = recorder;
        this.clock = clock;
        this.metrics = metrics;
        this.periodicCheck = new PeriodicCheck(revocationWatch.loop(), () -> decisions.execute(this::eachSecond));
    }

    private void eachSecond() {
        revocationWatch.checkHostKeys();
        jointReadmission.waiting().forEach(this::grantDue);
    }

    @Override
    public void start(Consumer<WorkerEvent> listener) {
        events = listener;
    }

    private void report(WorkerEvent event) {
        events.accept(event);
    }

    @Override
    public int expectWorkers(Ticket ticket, RelayTicketMessage.Update update) throws IOException {
        Allocation allocation = verify(update.allocation().toByteArray());
        expected.add(ticket, allocation);
        return allocation.slots().size();
    }

    private Allocation verify(byte[] envelope) throws IOException {
        try {
            return context.allocationVerifier().verify(envelope);
        } catch (IOException e) {
            metrics.allocationRefused();
            throw e;
        }
    }

    @Override
    public void release(String ticket) {
        released.add(ticket);
        sessionsOf(ticket).forEach(session -> session.send(new VerifierMessage.Release()));
    }

    @Override
    public void forget(String ticket) {
        sessionsOf(ticket).forEach(WorkerSession::finishOutput);
        released.remove(ticket);
        List<CertificateName> workers = expected.remove(ticket);
        workers.forEach(worker -> bootCircuits.removeAll(worker).forEach(WorkerSession::finishOutput));
        jointReadmission.forget(ticket);
        readmission.forget(ticket, workers);
        bootCircuits.forget(ticket);
        provisioning.add(new ProvisioningRequest.End(ticket));
    }

    /** Accepts a connection that claims to be a worker; not yet authenticated. Called on the link's event loop. */
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        decisions.execute(() -> {
            if (expected.find(dial.from()).isEmpty()) {
                if (unauthenticatedPeers.countEvent()) {
                    LOG.warn("worker {}: refused: no ticket expects it; {}", dial.from(), unauthenticatedPeers);
                }
                attachment.refuse(dial, CloseReason.REFUSED);
                return;
            }
            TlsCredential credential = context.own().get();
            Circuit.dialBack(
                            attachment.link(),
                            dial,
                            credential,
                            BootPeerVerifier.forBootingVmOr(context.workers()),
                            (pipeline, circuit) -> startSession(pipeline, circuit, credential))
                    .addListener((Future<Circuit> opened) -> {
                        if (!opened.isSuccess() && unauthenticatedPeers.countEvent()) {
                            LOG.warn(
                                    "worker {}: no circuit: {}; {}",
                                    dial.from(),
                                    opened.cause().getMessage(),
                                    unauthenticatedPeers);
                        }
                    });
        });
    }

    /**
     * Starts a session with a worker on a circuit.
     *
     * @param credential credential that this end has shown on it
     */
    void startSession(ChannelPipeline pipeline, Circuit circuit, TlsCredential credential) {
        pipeline.addLast(
                new MessageFraming(ProtocolLimits.BOOTING_VM_MESSAGE_BYTES, VmMessage::read),
                createSession(circuit, credential));
    }

    private WorkerSession createSession(Circuit circuit, TlsCredential credential) {
        CertificateName worker = circuit.terms().from();
        WorkerSession session = new WorkerSession(
                circuit,
                credential,
                (from, message) -> decide(worker, from, () -> onMessage(worker, from, message)),
                ended -> decisions.execute(() -> {
                    sessions.remove(worker, ended);
                    bootCircuits.remove(worker, ended);
                }),
                brokenCircuits,
                ProtocolLimits.EVIDENCE_TIME);
        revocationWatch.add(session);
        decide(worker, session, () -> onCircuitOpened(worker, session));
        return session;
    }

    private void onCircuitOpened(CertificateName worker, WorkerSession session) {
        Optional<ExpectedWorkers.ExpectedSlot> expectedSlot = expected.find(worker);
        if (expectedSlot.isEmpty()) {
            session.finishOutput();
        } else if (session.isBooting()) {
            bootCircuits.onCircuit(expectedSlot.get(), worker, session);
        } else {
            Optional<WorkerReadmission.Decision.Refuse> refusal =
                    readmission.checkKey(expectedSlot.get(), session.circuit().peerIdentity());
            if (refusal.isPresent()) {
                // The slot's own worker may have another circuit, and keeps it.
                session.deny(expectedSlot.get(), List.of(refusal.get().clause()));
            } else {
                acceptMessagesOf(worker, Optional.of(session));
            }
        }
    }

    /** Accepts messages on this circuit only, or on none of the slot's. */
    private void acceptMessagesOf(CertificateName worker, Optional<WorkerSession> session) {
        WorkerSession previous = session.isPresent() ? sessions.put(worker, session.get()) : sessions.remove(worker);
        if (previous != null) {
            previous.finishOutput();
        }
    }

    private void onMessage(CertificateName worker, WorkerSession session, VmMessage message) throws IOException {
        Optional<ExpectedWorkers.ExpectedSlot> found = expected.find(worker);
        if (found.isPresent() && bootCircuits.has(worker, session)) {
            bootCircuits.onMessage(found.get(), worker, session, message);
            return;
        }
        if (found.isEmpty() || sessions.get(worker) != session) {
            session.finishOutput();
            return;
        }
        ExpectedWorkers.ExpectedSlot expectedSlot = found.get();
        String ticket = expectedSlot.ticket();
        int slot = expectedSlot.slot().slot();
        if (message instanceof VmMessage.PhaseCompleted completed) {
            WorkerEvents.passed(expectedSlot, completed).ifPresent(this::report);
        } else if (message instanceof VmMessage.Ready) {
            session.markReady();
            reportIfReady(expectedSlot, worker, session);
        } else if (message instanceof VmMessage.Failure failure) {
            reportGone(expectedSlot, failure.phase(), failure.code());
        } else if (message instanceof VmMessage.FinalStatement finalStatement) {
            recorder.recordWorkerStatement(ticket, slot, finalStatement.statement());
        } else if (message instanceof VmMessage.Heartbeat) {
            session.send(new VerifierMessage.LeaseRenewal());
        } else if (message instanceof VmMessage.Resume resume) {
            onResume(expectedSlot, new ResumeRequest(worker, session, resume), false);
        } else if (message instanceof VmMessage.Readmitted readmitted && session.matchesOffer(readmitted)) {
            readmission.recordReadmission(worker);
            LOG.info("worker {} of ticket {}: readmitted", slot, ticket);
            reportIfReady(expectedSlot, worker, session);
        }
    }

    /** Reports the node ready when it has the credentials of this boot: before, nothing here can reach it. */
    private void reportIfReady(
            ExpectedWorkers.ExpectedSlot expectedSlot, CertificateName worker, WorkerSession session) {
        if (session.isReady() && readmission.isCurrent(worker)) {
            report(WorkerEvents.ready(expectedSlot));
        }
    }

    /** @param waited whether a request for the munge key is answered now; what was checked before may have changed */
    private void onResume(ExpectedWorkers.ExpectedSlot expectedSlot, ResumeRequest request, boolean waited) {
        WorkerSession session = request.session();
        if (released.contains(expectedSlot.ticket())) {
            session.send(new VerifierMessage.Release());
            return;
        }
        WorkerReadmission.Decision decision =
                readmission.decide(expectedSlot, session.circuit().peer(), request.resume(), clock.instant());
        if (decision instanceof WorkerReadmission.Decision.Refuse refuse) {
            session.deny(expectedSlot, List.of(refuse.clause()));
            if (refuse.slotLost()) {
                reportGone(expectedSlot, BootPhase.KEYS, "denied-" + refuse.clause());
            }
        } else if (decision instanceof WorkerReadmission.Decision.Readmit readmit) {
            if (readmit.isMungeKeyDue() && !waited) {
                jointReadmission.add(expectedSlot.ticket(), request.worker(), request, clock.instant());
                grantDue(expectedSlot.ticket());
            } else {
                provisioning.add(new ProvisioningRequest.Readmission(
                        session, request.resume(), readmit.worker(), readmit.isMungeKeyDue()));
            }
        }
    }

    private void onProvisioned(List<ProvisioningResult> results) {
        try {
            decisions.execute(() -> results.forEach(outcomes::onResult));
        } catch (RejectedExecutionException e) {
            LOG.debug("workers: the admission is closed: {}", e.getMessage());
        }
    }

    /** Grants the munge key to the workers of a ticket that wait for it, if no other is to be waited for. */
    private void grantDue(String ticket) {
        Set<CertificateName> missing = readmission.missing(expected, ticket);
        jointReadmission
                .poll(ticket, missing, request -> sessions.get(request.worker()) == request.session(), clock.instant())
                .forEach(request -> decide(
                        request.worker(),
                        request.session(),
                        () -> expected.find(request.worker())
                                .ifPresent(expectedSlot -> onResume(expectedSlot, request, true))));
    }

    private void onRevoked(CertificateName worker, ExpectedWorkers.ExpectedSlot expectedSlot) {
        WorkerSession session = sessions.get(worker);
        if (session != null) {
            session.deny(expectedSlot, List.of(EvidenceClause.REVOKED.id()));
        }
        reportGone(expectedSlot, BootPhase.KEYS, "denied-" + EvidenceClause.REVOKED.id());
    }

    /** Stops the periodic checks; circuits close with their link. */
    @Override
    public void close() {
        periodicCheck.close();
        revocationWatch.close();
    }

    private void reportGone(ExpectedWorkers.ExpectedSlot expectedSlot, BootPhase phase, String code) {
        report(WorkerEvents.gone(expectedSlot, phase, code));
    }

    private List<WorkerSession> sessionsOf(String ticket) {
        return expected.workersOf(ticket).stream()
                .flatMap(worker -> Optional.ofNullable(sessions.get(worker)).stream())
                .toList();
    }

    @FunctionalInterface
    private interface Task {
        void run() throws IOException;
    }

    /** @param session the circuit concerned, closed if the task fails; other circuits of the slot are not affected */
    private void decide(CertificateName worker, WorkerSession session, Task task) {
        decisions.execute(() -> {
            try {
                task.run();
            } catch (IOException | RuntimeException e) {
                LOG.error("worker {}: {}", worker, e.toString());
                session.finishOutput();
            }
        });
    }
}
