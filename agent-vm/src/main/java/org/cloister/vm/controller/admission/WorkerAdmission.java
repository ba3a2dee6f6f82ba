package org.cloister.vm.controller.admission;

import io.netty.channel.ChannelPipeline;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.EvidenceClause;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.BootPeerVerifier;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.MessageFraming;
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
 * anything. One thread makes all decisions.
 */
public final class WorkerAdmission implements WorkerSlots, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerAdmission.class);

    private final Context terms;
    private final Provisioner giver;
    private final WorkerReadmission returning;
    private final HandoverRecorder lives;
    private final Executor decisions;
    private final InstantSource clock;
    private final AdmissionMetrics metrics;
    private final ExpectedWorkers expected = new ExpectedWorkers();
    /** Sessions of admitted workers by name; one session per worker is accepted at a time. */
    private final Map<CertificateName, WorkerSession> talks = new HashMap<>();

    private final BootCircuits arrivals;
    private final UnauthenticatedPeerCounter strangers;
    /** Counts broken boot circuits, which include those of genuine workers. */
    private final UnauthenticatedPeerCounter breaks = new UnauthenticatedPeerCounter(() -> {});

    private final RevocationWatch lapses;
    private final Set<String> released = new HashSet<>();
    private Consumer<WorkerEvent> events = event -> {};

    /**
     * Identity and trust of the controlling VM.
     *
     * @param own its current credential for its name and boot, read when a circuit opens
     * @param trustStore accepts workers that a controlling VM of this name certified, this one or an earlier one
     * @param allocationVerifier verifies a relay's signed allocation
     * @param policy the owners' policy in force
     * @param driveIntegrity whether changes of the project's drive are detected
     */
    public record Context(
            Supplier<TlsCredential> own,
            TrustStore trustStore,
            AllocationVerifier allocationVerifier,
            ProjectPolicy policy,
            HostTrust hostTrust,
            boolean driveIntegrity) {
        CertifiedPeerVerifier workers() {
            return CertifiedPeerVerifier.forRoles(trustStore, Set.of(CertificateRole.WORKER));
        }
    }

    /**
     * The site's current trust in hosts, by their keys.
     *
     * @param untrusted whether a worker on the host must not receive anything
     * @param keyRevoked whether an admitted worker on the host must end
     */
    public record HostTrust(Predicate<VerificationKey> untrusted, Predicate<VerificationKey> keyRevoked) {}

    /** Records of hand-overs on the project's drive. */
    public record Stores(HandoverLedger handovers, AdmittedWorkers admitted) {}

    /** Verifies a received allocation. */
    @FunctionalInterface
    public interface AllocationVerifier {
        /**
         * Verifies an allocation.
         *
         * @throws IOException if no relay of the site signed it
         */
        Allocation verify(byte[] envelope) throws IOException;
    }

    /** @param decisions a single thread, which also makes the calls of {@link WorkerSlots} */
    public WorkerAdmission(
            Context terms,
            Stores books,
            Provisioner giver,
            HandoverRecorder lives,
            Executor decisions,
            InstantSource clock,
            AdmissionMetrics metrics) {
        this.terms = terms;
        this.giver = giver;
        this.returning = new WorkerReadmission(books.admitted(), terms, giver);
        this.strangers = new UnauthenticatedPeerCounter(metrics::unauthenticatedPeer);
        this.arrivals = new BootCircuits(
                new WorkerAttestation(terms, books.handovers(), giver, returning, lives, strangers),
                returning,
                strangers,
                clock,
                this::listen,
                this::report);
        this.lapses = new RevocationWatch(terms, expected, returning, decisions, this::lapsed);
        this.lives = lives;
        this.decisions = decisions;
        this.clock = clock;
        this.metrics = metrics;
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
            return terms.allocationVerifier().verify(envelope);
        } catch (IOException e) {
            metrics.allocationRefused();
            throw e;
        }
    }

    @Override
    public void release(String ticket) {
        released.add(ticket);
        of(ticket).forEach(talk -> talk.send(new VerifierMessage.Release()));
    }

    @Override
    public void forget(String ticket) {
        of(ticket).forEach(WorkerSession::finishOutput);
        released.remove(ticket);
        List<CertificateName> workers = expected.remove(ticket);
        workers.forEach(worker -> arrivals.removeAll(worker).forEach(WorkerSession::finishOutput));
        giver.revokeAccess(ticket);
        try {
            returning.forget(ticket, workers);
            arrivals.forget(ticket);
        } catch (IOException e) {
            // The ticket's workers are no longer expected, so no slot of it can be spent; the remaining file is
            // harmless.
            LOG.warn("ticket {}: what was given of it is not forgotten: {}", ticket, e.toString());
        }
    }

    /** Accepts a connection that claims to be a worker; not yet authenticated. Called on the link's event loop. */
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        decisions.execute(() -> {
            if (expected.find(dial.from()).isEmpty()) {
                if (strangers.countEvent()) {
                    LOG.warn("worker {}: not expected; {}", dial.from(), strangers);
                }
                attachment.refuse(dial, CloseReason.REFUSED);
                return;
            }
            TlsCredential own = terms.own().get();
            Circuit.dialBack(
                            attachment.link(),
                            dial,
                            own,
                            BootPeerVerifier.forBootingVmOr(terms.workers()),
                            (pipeline, circuit) -> startSession(pipeline, circuit, own))
                    .addListener((Future<Circuit> opened) -> {
                        if (!opened.isSuccess() && strangers.countEvent()) {
                            LOG.warn(
                                    "worker {}: no circuit: {}; {}",
                                    dial.from(),
                                    opened.cause().getMessage(),
                                    strangers);
                        }
                    });
        });
    }

    /**
     * Starts a session with a worker on a circuit.
     *
     * @param own credential that this end has shown on it
     */
    void startSession(ChannelPipeline pipeline, Circuit circuit, TlsCredential own) {
        pipeline.addLast(
                new MessageFraming(ProtocolLimits.BOOTING_VM_MESSAGE_BYTES, VmMessage::read), talk(circuit, own));
    }

    private WorkerSession talk(Circuit circuit, TlsCredential own) {
        CertificateName worker = circuit.terms().from();
        WorkerSession talk = new WorkerSession(
                circuit,
                own,
                (on, message) -> decide(worker, on, () -> heard(worker, on, message)),
                on -> decisions.execute(() -> {
                    talks.remove(worker, on);
                    arrivals.remove(worker, on);
                }),
                breaks,
                ProtocolLimits.EVIDENCE_TIME);
        lapses.add(talk);
        decide(worker, talk, () -> begin(worker, talk));
        return talk;
    }

    private void begin(CertificateName worker, WorkerSession talk) {
        Optional<ExpectedWorkers.ExpectedSlot> known = expected.find(worker);
        if (known.isEmpty()) {
            talk.finishOutput();
        } else if (talk.isBooting()) {
            arrivals.onCircuit(known.get(), worker, talk);
        } else {
            Optional<WorkerReadmission.Decision.Refuse> stranger =
                    returning.checkKey(known.get(), talk.circuit().peerIdentity());
            if (stranger.isPresent()) {
                // The slot's own worker may have another circuit, and keeps it.
                talk.deny(known.get(), List.of(stranger.get().clause()));
            } else {
                listen(worker, Optional.of(talk));
            }
        }
    }

    /** Accepts messages on this circuit only, or on none of the slot's. */
    private void listen(CertificateName worker, Optional<WorkerSession> talk) {
        WorkerSession before = talk.isPresent() ? talks.put(worker, talk.get()) : talks.remove(worker);
        if (before != null) {
            before.finishOutput();
        }
    }

    private void heard(CertificateName worker, WorkerSession on, VmMessage message) throws IOException {
        Optional<ExpectedWorkers.ExpectedSlot> known = expected.find(worker);
        if (known.isPresent() && arrivals.has(worker, on)) {
            arrivals.onMessage(known.get(), worker, on, message);
            return;
        }
        if (known.isEmpty() || talks.get(worker) != on) {
            on.finishOutput();
            return;
        }
        ExpectedWorkers.ExpectedSlot place = known.get();
        String ticket = place.ticket();
        int slot = place.slot().slot();
        if (message instanceof VmMessage.PhaseCompleted passed) {
            WorkerEvents.passed(place, passed).ifPresent(this::report);
        } else if (message instanceof VmMessage.Ready) {
            on.markReady();
            ready(place, worker, on);
        } else if (message instanceof VmMessage.Failure trouble) {
            gone(place, trouble.phase(), trouble.code());
        } else if (message instanceof VmMessage.FinalStatement part) {
            lives.recordWorkerStatement(ticket, slot, part.statement());
        } else if (message instanceof VmMessage.Heartbeat) {
            on.send(new VerifierMessage.LeaseRenewal());
        } else if (message instanceof VmMessage.Resume resume) {
            resumed(place, on, resume);
        } else if (message instanceof VmMessage.Readmitted done && on.matchesOffer(done)) {
            returning.recordReadmission(worker);
            LOG.info("worker {} of ticket {}: has what it had, anew", slot, ticket);
            ready(place, worker, on);
        }
    }

    /** Reports the node ready when it has the credentials of this boot: before, nothing here can reach it. */
    private void ready(ExpectedWorkers.ExpectedSlot place, CertificateName worker, WorkerSession on) {
        if (on.isReady() && returning.isCurrent(worker)) {
            report(WorkerEvents.ready(place));
        }
    }

    private void resumed(ExpectedWorkers.ExpectedSlot place, WorkerSession on, VmMessage.Resume resume) {
        if (released.contains(place.ticket())) {
            on.send(new VerifierMessage.Release());
            return;
        }
        WorkerReadmission.Decision answer = returning.decide(place, on.circuit().peer(), resume, clock.instant());
        if (answer instanceof WorkerReadmission.Decision.Refuse refuse) {
            on.deny(place, List.of(refuse.clause()));
            if (refuse.slotLost()) {
                gone(place, BootPhase.KEYS, "denied-" + refuse.clause());
            }
        } else if (answer instanceof WorkerReadmission.Decision.Readmit anew) {
            readmit(on, resume, anew);
        }
    }

    private void readmit(WorkerSession on, VmMessage.Resume resume, WorkerReadmission.Decision.Readmit anew) {
        try {
            on.sendReadmission(giver.readmit(anew.worker(), resume.fresh(), anew.needsMungeKey()));
        } catch (IOException e) {
            LOG.error("worker {} of ticket {}: not readmitted yet: {}", resume.slot(), resume.ticket(), e.getMessage());
            // A worker that needs a certificate only continues with its current one; one that needs the munge key
            // reconnects.
            if (anew.needsMungeKey()) {
                on.finishOutput();
            }
        }
    }

    private void lapsed(CertificateName worker, ExpectedWorkers.ExpectedSlot place) {
        WorkerSession talk = talks.get(worker);
        if (talk != null) {
            talk.deny(place, List.of(EvidenceClause.REVOKED.id()));
        }
        gone(place, BootPhase.KEYS, "denied-" + EvidenceClause.REVOKED.id());
    }

    /** Stops the revocation watch; circuits close with their link. */
    @Override
    public void close() {
        lapses.close();
    }

    private void gone(ExpectedWorkers.ExpectedSlot place, BootPhase at, String code) {
        report(WorkerEvents.gone(place, at, code));
    }

    private List<WorkerSession> of(String ticket) {
        List<WorkerSession> all = new ArrayList<>();
        talks.forEach((name, talk) -> {
            if (expected.find(name)
                    .filter(place -> place.ticket().equals(ticket))
                    .isPresent()) {
                all.add(talk);
            }
        });
        return all;
    }

    @FunctionalInterface
    private interface Task {
        void run() throws IOException;
    }

    /** @param on the circuit concerned, closed if the task fails; other circuits of the slot are not affected */
    private void decide(CertificateName worker, WorkerSession on, Task act) {
        decisions.execute(() -> {
            try {
                act.run();
            } catch (IOException | RuntimeException e) {
                LOG.error("worker {}: {}", worker, e.toString());
                on.finishOutput();
            }
        });
    }
}
