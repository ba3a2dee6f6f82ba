package org.cloister.vm.worker;

import com.google.protobuf.ByteString;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.EvidenceRefusedException;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.ReadmissionGrant;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.transport.channel.EvidenceQuery;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.vm.boot.AgentVmPhase;
import org.cloister.vm.boot.AgentVmStatusFile;
import org.cloister.vm.boot.BootJournal;
import org.cloister.vm.controller.tickets.WorkerPhase;
import org.cloister.vm.worker.state.WorkerStateAction;
import org.cloister.vm.worker.state.WorkerStateEvent;
import org.cloister.vm.worker.state.WorkerStateMachine;
import org.cloister.vm.worker.steps.AcceptedHandover;
import org.cloister.vm.worker.steps.NodeSetup;
import org.cloister.vm.worker.steps.SetupStep;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Performs what a {@link WorkerStateMachine} decides: decisions run on one thread, blocking work on another. It ends
 * with the VM, or, if no evidence was requested from the host yet, with this process.
 */
public final class WorkerVm implements AgentLinkListener, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerVm.class);
    /** Longer than undoing all steps takes; after it, the VM powers off whatever is left. */
    private static final Duration SHUTDOWN_LIMIT = Duration.ofMinutes(10);

    private final SecureRandom random = new SecureRandom();
    private final WorkerIdentity identity;
    private final WorkerStateMachine stateMachine;
    private final NodeSetup setup;
    private final BootJournal journal;
    private final Environment environment;
    private final ScheduledExecutorService decisions =
            Executors.newSingleThreadScheduledExecutor(work -> thread(work, "worker"));
    private final ExecutorService blockingWork =
            Executors.newSingleThreadExecutor(work -> thread(work, "worker-hands"));
    private final CountDownLatch terminated = new CountDownLatch(1);
    private volatile boolean poweredOff;
    private @Nullable AgentAttachStream attachment;
    private @Nullable ControllerSession session;
    private @Nullable ScheduledFuture<?> timer;

    WorkerVm(
            WorkerIdentity identity,
            WorkerStateMachine stateMachine,
            NodeSetup setup,
            BootJournal journal,
            Environment environment) {
        this.identity = identity;
        this.stateMachine = stateMachine;
        this.setup = setup;
        this.journal = journal;
        this.environment = environment;
    }

    private static Thread thread(Runnable work, String name) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Outputs for the worker's state, read by observers inside the VM, and its clocks.
     *
     * @param nanos as {@link System#nanoTime}
     */
    record Environment(AgentVmStatusFile status, WorkerMetrics metrics, InstantSource clock, LongSupplier nanos) {}

    /** Shuts the worker down on SIGTERM. Returns when it has ended, or after the limit. */
    public void stop(Duration limit) throws InterruptedException {
        post(new WorkerStateEvent.StopRequested());
        if (!terminated.await(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            LOG.error("the worker did not end within {} s", limit.toSeconds());
        }
    }

    /**
     * Waits until the worker has ended.
     *
     * @return whether the VM ends, too; otherwise this process alone ends, and another one starts
     */
    public boolean awaitEnd() throws InterruptedException {
        terminated.await();
        return poweredOff;
    }

    @Override
    public void onAttached(AgentAttachStream attached) {
        attached.serve(identity.name());
        decisions.execute(() -> attachment = attached);
        post(new WorkerStateEvent.ChannelAttached());
    }

    @Override
    public void onLost(String reason) {
        decisions.execute(() -> attachment = null);
        post(new WorkerStateEvent.ChannelLost());
    }

    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {
        refused.ifPresent(reason -> LOG.warn("name {}: not served: {}", name, reason));
    }

    @Override
    public void onShutdownRequest(Duration within) {
        LOG.warn("the host stops this VM within {} s", within.toSeconds());
        post(new WorkerStateEvent.HostShutdown(within));
    }

    /**
     * Closes the circuit if its peer is revoked. The VM's trust store has already added the list if the project's
     * owners issued it.
     */
    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // failures of the channel arrive as its close
    public boolean onRevocationList(byte[] signed) {
        decisions.execute(() -> {
            if (session != null && stateMachine.isCircuitOpen() && !identity.isTrusted(session.circuit())) {
                LOG.warn("circuit to {} closed: its certificate was revoked", identity.controller());
                session.circuit().close(CloseReason.REVOKED);
            }
        });
        return false;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // nothing is thrown in it
    private void post(WorkerStateEvent event) {
        if (!decisions.isShutdown()) {
            decisions.execute(() -> decide(event));
        }
    }

    private void decide(WorkerStateEvent event) {
        try {
            for (WorkerStateAction action :
                    stateMachine.on(event, environment.nanos().getAsLong())) {
                perform(action);
            }
            environment.metrics().setCircuitOpen(stateMachine.isCircuitOpen());
            wakeAt(stateMachine.wakeNs());
        } catch (RuntimeException e) {
            // Nothing else would end a VM that decides nothing any more, and it has its project's keys.
            LOG.error("the worker failed, a defect; the VM powers off", e);
            terminate(true, "defect");
        }
    }

    private void wakeAt(long whenNs) {
        if (timer != null) {
            timer.cancel(false);
        }
        if (whenNs != Long.MAX_VALUE && !decisions.isShutdown()) {
            long delayNs = Math.max(0, whenNs - environment.nanos().getAsLong());
            timer = decisions.schedule(
                    () -> decide(new WorkerStateEvent.TimerExpired()), delayNs, TimeUnit.NANOSECONDS);
        }
    }

    private void perform(WorkerStateAction action) {
        if (action instanceof WorkerStateAction.OpenCircuit open) {
            openCircuit(open.certified());
        } else if (action instanceof WorkerStateAction.Send send) {
            send(send.message());
        } else if (action instanceof WorkerStateAction.FinishOutput && session != null) {
            session.finishOutput();
        } else if (action instanceof WorkerStateAction.RequestEvidence request) {
            requestEvidence(request.nonce());
        } else if (action instanceof WorkerStateAction.AcceptHandover accept) {
            blockingWork.execute(() -> accept(accept.handOver(), accept.nonce()));
        } else if (action instanceof WorkerStateAction.ApplyReadmission grant) {
            blockingWork.execute(() -> readmit(grant.readmission(), grant.fresh()));
        } else if (action instanceof WorkerStateAction.ApplyStep apply) {
            blockingWork.execute(() -> apply(apply.step()));
        } else if (action instanceof WorkerStateAction.UndoStep undo) {
            blockingWork.execute(() -> undo(undo));
        } else if (action instanceof WorkerStateAction.StartShutdown shutdown) {
            startShutdown(shutdown);
        } else if (action instanceof WorkerStateAction.SignStatement) {
            blockingWork.execute(
                    () -> post(new WorkerStateEvent.StatementSigned(identity.signStatement(setup.scratchErasedAt()))));
        } else if (action instanceof WorkerStateAction.Terminate end) {
            terminate(end.powerOff(), end.reason());
        }
    }

    private void send(VmMessage message) {
        if (message instanceof VmMessage.Ready) {
            identity.recordRegistration(environment.clock().instant());
            environment.status().reportPhase(AgentVmPhase.READY);
        } else if (message instanceof VmMessage.PhaseCompleted completed) {
            environment.metrics().phasePassed(phase(completed.phase()), completed.took());
        } else if (message instanceof VmMessage.Failure failure) {
            environment.metrics().attemptFailed(phase(failure.phase()));
        }
        if (session != null) {
            session.send(message);
        }
    }

    /** A worker passes all of these phases except that of the controlling VM's drive. */
    private static WorkerPhase phase(BootPhase of) {
        return WorkerPhase.valueOf(of.name());
    }

    private void openCircuit(boolean certified) {
        AgentAttachStream link = attachment;
        if (link == null) {
            post(new WorkerStateEvent.CircuitClosed());
            return;
        }
        ControllerSession[] created = new ControllerSession[1];
        identity.openCircuit(link.link(), certified, circuit -> {
                    created[0] = new ControllerSession(
                            circuit,
                            identity.messageOrder(certified),
                            message -> post(new WorkerStateEvent.MessageReceived(message)),
                            () -> post(new WorkerStateEvent.CircuitClosed()));
                    // Before any message received on it.
                    decisions.execute(() -> session = created[0]);
                    post(new WorkerStateEvent.CircuitOpened(Nonce.random(random)));
                    return created[0];
                })
                .addListener((Future<Circuit> opened) -> {
                    if (!opened.isSuccess()) {
                        String reason = opened.cause().getMessage();
                        LOG.warn("circuit to {}: {}; retrying", identity.controller(), reason);
                        if (created[0] == null) {
                            post(new WorkerStateEvent.CircuitClosed());
                        }
                    }
                });
    }

    private void requestEvidence(Nonce nonce) {
        AgentAttachStream link = attachment;
        ControllerSession current = session;
        try {
            journal.recordEvidenceRequest(CertificateRole.WORKER);
        } catch (IOException e) {
            LOG.error("the boot journal cannot be written: {}", e.toString());
            post(new WorkerStateEvent.EvidenceRefused(nonce, Optional.empty()));
            return;
        }
        if (link == null || current == null) {
            post(new WorkerStateEvent.EvidenceRefused(nonce, Optional.empty()));
            return;
        }
        EvidenceQuery.ask(link.link(), identity.claim(current.circuit(), nonce))
                .addListener((Future<DsseEnvelope> response) -> {
                    if (response.isSuccess()) {
                        onEvidence(nonce, response.getNow());
                    } else {
                        LOG.warn("evidence: {}", response.cause().getMessage());
                        Optional<EvidenceMessage.RefusalReason> reason =
                                response.cause() instanceof EvidenceRefusedException refused
                                        ? Optional.of(refused.why())
                                        : Optional.empty();
                        post(new WorkerStateEvent.EvidenceRefused(nonce, reason));
                    }
                });
    }

    private void onEvidence(Nonce nonce, DsseEnvelope statement) {
        try {
            identity.recordEvidence(statement);
        } catch (IOException e) {
            // It may be of a later release; the controlling VM reports its decision on it.
            LOG.warn("evidence: {}", e.getMessage());
        }
        environment.status().reportPhase(AgentVmPhase.VOUCHED);
        post(new WorkerStateEvent.EvidenceReceived(
                nonce,
                ByteString.copyFrom(statement.bytes()),
                environment.clock().instant()));
    }

    private void accept(HandoverDocument handOver, Nonce nonce) {
        try {
            identity.accept(handOver, nonce);
            environment.status().reportPhase(AgentVmPhase.GIVEN);
            post(new WorkerStateEvent.HandoverAccepted(
                    handOver.lease(), identity.acceptedHandover().renewalDelay(), handOver.target()));
        } catch (HandoverRefused e) {
            LOG.error("{}", e.getMessage());
            post(new WorkerStateEvent.HandoverRejected(BootPhase.KEYS, e.code()));
        } catch (RuntimeException e) {
            // A hand-over is the first input that others wrote, and the state machine waits for this event.
            LOG.error("hand-over: a defect", e);
            post(new WorkerStateEvent.HandoverRejected(BootPhase.KEYS, "defect"));
        }
    }

    private void readmit(ReadmissionGrant readmission, Nonce fresh) {
        try {
            identity.accept(readmission, fresh);
            AcceptedHandover accepted = identity.acceptedHandover();
            boolean opened = readmission.mungeKey().isPresent();
            setup.applyReadmission(accepted, opened);
            LOG.info(
                    "certificate renewed until={}{}",
                    accepted.expiresAt(),
                    opened ? "; the controlling VM was reopened" : "");
            post(new WorkerStateEvent.ReadmissionApplied(fresh, accepted.lease(), accepted.renewalDelay()));
        } catch (HandoverRefused e) {
            LOG.error("{}", e.getMessage());
            post(new WorkerStateEvent.HandoverRejected(BootPhase.KEYS, e.code()));
        } catch (IOException | RuntimeException e) {
            LOG.error("readmission: {}", e.toString());
            post(new WorkerStateEvent.HandoverRejected(BootPhase.TUNNEL, "no-readmission"));
        }
    }

    private void apply(SetupStep step) {
        long before = System.nanoTime();
        try {
            setup.apply(step, identity.acceptedHandover());
            LOG.info("{}: done in {} ms", step, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - before));
            if (step == SetupStep.TUNNEL) {
                environment.status().reportPhase(AgentVmPhase.TUNNEL);
            }
            post(new WorkerStateEvent.StepApplied(step));
        } catch (IOException | RuntimeException e) {
            LOG.error("{}: {}", step, e.toString());
            post(new WorkerStateEvent.StepFailed(step));
        }
    }

    private void undo(WorkerStateAction.UndoStep undo) {
        try {
            setup.undo(undo.step(), undo.failed());
        } catch (IOException | RuntimeException e) {
            LOG.error("{}: cannot be undone: {}", undo.step(), e.toString());
        }
        post(new WorkerStateEvent.StepUndone(undo.step()));
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the process ends before, or by it
    private void startShutdown(WorkerStateAction.StartShutdown shutdown) {
        LOG.info("the worker shuts down: {}", shutdown.reason());
        identity.recordShutdown(environment.clock().instant());
        environment.status().reportPhase(AgentVmPhase.LEAVING);
        decisions.schedule(
                () -> terminate(true, "leaving-took-too-long"), SHUTDOWN_LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    private void terminate(boolean powerOff, String reason) {
        if (terminated.getCount() == 0) {
            return;
        }
        LOG.info("the worker ended: {}{}", reason, powerOff ? "; the VM powers off" : "");
        poweredOff = powerOff;
        identity.close();
        if (powerOff) {
            setup.powerOff();
        }
        terminated.countDown();
    }

    @Override
    public void close() {
        decisions.shutdownNow();
        blockingWork.shutdownNow();
        identity.close();
    }
}
