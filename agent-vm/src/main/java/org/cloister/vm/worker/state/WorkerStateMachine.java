package org.cloister.vm.worker.state;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.ReadmissionGrant;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.vm.worker.steps.SetupStep;
import org.jspecify.annotations.Nullable;

/**
 * Decides what a worker does next, from its assignment to its end, without I/O and without a clock: time is an
 * argument, in nanoseconds. Reports any failure to the controlling VM, and ends the VM. Not thread-safe.
 */
public final class WorkerStateMachine {
    /** Time limit for a hand-over; a controlling VM that does not answer for so long does not need this worker. */
    public static final Duration HANDOVER_LIMIT = Duration.ofMinutes(15);

    private static final long NEVER = Long.MAX_VALUE;

    private final Duration boot;
    private final Deque<SetupStep> startedSteps = new ArrayDeque<>();
    private final Deque<VmMessage> unsent = new ArrayDeque<>();
    private final long handoverDeadlineNs;
    private final CircuitReconnect circuit;
    private final AttestationRequest attestation = new AttestationRequest();
    private final WorkerLease lease = new WorkerLease();
    private final WorkerCertificateRenewal renewal = new WorkerCertificateRenewal();
    private final WorkerShutdown shutdown = new WorkerShutdown();
    private List<WorkerStateAction> actions = new ArrayList<>();
    private WorkerState state = WorkerState.AWAITING_HANDOVER;
    private boolean attached;
    private boolean busy;
    private @Nullable HandoverTarget target;
    private @Nullable ByteString statement;
    private long phaseNs;

    private WorkerStateMachine(Duration boot, long nowNs) {
        this.boot = boot;
        this.handoverDeadlineNs = nowNs + HANDOVER_LIMIT.toNanos();
        this.circuit = new CircuitReconnect(nowNs);
    }

    /**
     * Creates the state machine.
     *
     * @param boot time from the kernel's start to the assignment
     */
    public static WorkerStateMachine create(Duration boot, long nowNs) {
        return new WorkerStateMachine(boot, nowNs);
    }

    /** Processes an event and returns the actions to perform now. */
    public List<WorkerStateAction> on(WorkerStateEvent event, long nowNs) {
        actions = new ArrayList<>();
        if (state == WorkerState.TERMINATED) {
            return actions;
        }
        if (event instanceof WorkerStateEvent.ChannelAttached || event instanceof WorkerStateEvent.ChannelLost) {
            attached = event instanceof WorkerStateEvent.ChannelAttached;
        } else if (event instanceof WorkerStateEvent.CircuitOpened opened) {
            onCircuitOpened(opened.fresh(), nowNs);
        } else if (event instanceof WorkerStateEvent.CircuitClosed) {
            onCircuitClosed(nowNs);
        } else if (event instanceof WorkerStateEvent.MessageReceived received) {
            onMessage(received.message(), nowNs);
        } else if (event instanceof WorkerStateEvent.EvidenceReceived received) {
            onEvidence(received, nowNs);
        } else if (event instanceof WorkerStateEvent.EvidenceRefused refused) {
            onEvidenceRefused(refused, nowNs);
        } else if (event instanceof WorkerStateEvent.StopRequested) {
            startShutdown("stopped", false, nowNs);
        } else if (event instanceof WorkerStateEvent.HostShutdown shutdownRequest) {
            shutdown.onHostShutdown(shutdownRequest.within(), nowNs);
            // If a job runs here, its owner needs to learn what became of it.
            startShutdown("host", state == WorkerState.SERVING, nowNs);
        } else if (event instanceof WorkerStateEvent.TimerExpired) {
            onTimer(nowNs);
        } else {
            onActionResult(event, nowNs);
        }
        addDueActions(nowNs);
        return actions;
    }

    /** Returns when a timer event is due if nothing else happens; {@link Long#MAX_VALUE} for never. */
    public long wakeNs() {
        long wake = state == WorkerState.AWAITING_HANDOVER ? Math.min(handoverDeadlineNs, attestation.wakeNs()) : NEVER;
        if (state.needsCircuit(isHandedOver()) && attached && circuit.isClosed()) {
            wake = Math.min(wake, circuit.connectNs());
        }
        if (sendsHeartbeats()) {
            wake = Math.min(wake, lease.heartbeatNs());
        }
        if (state.isLeased()) {
            wake = Math.min(wake, lease.expiryNs());
        }
        if (mayRenew()) {
            wake = Math.min(wake, renewal.dueNs());
        }
        return state == WorkerState.REPORTING && !busy ? Math.min(wake, shutdown.reportDeadlineNs()) : wake;
    }

    /** Returns the time by which the controlling VM must answer; {@link Long#MAX_VALUE} before the hand-over. */
    long leaseExpiryNs() {
        return lease.expiryNs();
    }

    public boolean isCircuitOpen() {
        return circuit.isOpen();
    }

    private boolean isHandedOver() {
        return target != null;
    }

    private boolean mayRenew() {
        return state == WorkerState.SERVING && !busy && circuit.isOpen();
    }

    private boolean sendsHeartbeats() {
        boolean isReporting = state.isLeased() || state == WorkerState.SHUTTING_DOWN;
        return isReporting && isHandedOver() && circuit.isOpen();
    }

    private void onTimer(long nowNs) {
        if (state == WorkerState.AWAITING_HANDOVER && nowNs >= handoverDeadlineNs) {
            startShutdown("no-hand-over", true, nowNs);
        } else if (state == WorkerState.AWAITING_HANDOVER && attestation.pollTimeout(nowNs)) {
            actions.add(new WorkerStateAction.Send(new VmMessage.NoStatement(EvidenceMessage.RefusalReason.FAILED)));
            actions.add(new WorkerStateAction.FinishOutput());
        } else if (state.isLeased() && lease.isExpired(nowNs)) {
            startShutdown("lease", true, nowNs);
        } else if (state == WorkerState.REPORTING && !busy && nowNs >= shutdown.reportDeadlineNs()) {
            tearDown(nowNs);
        }
    }

    /** Adds the actions that are due. */
    private void addDueActions(long nowNs) {
        if (state.needsCircuit(isHandedOver()) && attached && circuit.isClosed() && nowNs >= circuit.connectNs()) {
            circuit.onConnecting();
            actions.add(new WorkerStateAction.OpenCircuit(isHandedOver()));
        }
        if (state == WorkerState.AWAITING_HANDOVER) {
            attestation
                    .pollRequest(nowNs)
                    .ifPresent(question -> actions.add(new WorkerStateAction.RequestEvidence(question)));
        }
        if (state == WorkerState.SERVING && !busy) {
            applyReadmission();
        }
        if (mayRenew() && renewal.pollDue(nowNs)) {
            circuit.onClosing();
            actions.add(new WorkerStateAction.FinishOutput());
        }
        if (sendsHeartbeats() && lease.pollHeartbeat(nowNs)) {
            actions.add(new WorkerStateAction.Send(new VmMessage.Heartbeat()));
        }
    }

    private void onCircuitOpened(Nonce fresh, long nowNs) {
        circuit.onOpened();
        attestation.onCircuitOpened(nowNs);
        HandoverTarget own = target;
        if (own == null) {
            return;
        }
        renewal.onCircuitOpened(fresh);
        actions.add(new WorkerStateAction.Send(new VmMessage.Resume(own.ticket(), own.slot(), own.vm(), fresh)));
        lease.scheduleHeartbeatNow(nowNs);
        if (state == WorkerState.SERVING && unsent.stream().noneMatch(VmMessage.Ready.class::isInstance)) {
            // It may have been in transit when the previous circuit broke; it is sent again after each break.
            actions.add(new WorkerStateAction.Send(new VmMessage.Ready()));
        }
        unsent.forEach(message -> actions.add(new WorkerStateAction.Send(message)));
        unsent.clear();
        sendStatement(nowNs);
    }

    private void onCircuitClosed(long nowNs) {
        circuit.onClosed(nowNs);
        renewal.onCircuitClosed();
        if (state == WorkerState.AWAITING_HANDOVER) {
            attestation.onCircuitClosed();
        } else if (state == WorkerState.REPORTING && !busy && (statement == null || !isHandedOver())) {
            tearDown(nowNs);
        }
    }

    private void onMessage(VerifierMessage message, long nowNs) {
        circuit.onMessage();
        lease.renew(nowNs);
        if (message instanceof VerifierMessage.Question question && state == WorkerState.AWAITING_HANDOVER) {
            attestation.question(question.nonce(), nowNs);
        } else if (message instanceof HandoverDocument handOver
                && state == WorkerState.AWAITING_HANDOVER
                && attestation.question().isPresent()) {
            state = WorkerState.ACCEPTING_HANDOVER;
            busy = true;
            actions.add(new WorkerStateAction.AcceptHandover(
                    handOver, attestation.question().get()));
        } else if (message instanceof ReadmissionGrant readmission) {
            renewal.onReadmission(readmission);
        } else if (message instanceof VerifierMessage.Denied) {
            startShutdown("denied", true, nowNs);
        } else if (message instanceof VerifierMessage.Release) {
            startShutdown("released", false, nowNs);
        }
    }

    private void onEvidence(WorkerStateEvent.EvidenceReceived received, long nowNs) {
        if (state == WorkerState.AWAITING_HANDOVER && attestation.onEvidence(received.nonce(), nowNs)) {
            actions.add(new WorkerStateAction.Send(new VmMessage.Evidence(received.statement(), received.clock())));
        }
    }

    private void onEvidenceRefused(WorkerStateEvent.EvidenceRefused refused, long nowNs) {
        if (state != WorkerState.AWAITING_HANDOVER || !attestation.onRefusal(refused.nonce(), nowNs)) {
            return;
        }
        if (refused.reason().equals(Optional.of(EvidenceMessage.RefusalReason.ANOTHER))) {
            actions.add(new WorkerStateAction.Send(new VmMessage.NoStatement(EvidenceMessage.RefusalReason.ANOTHER)));
            startShutdown("no-statement", true, nowNs);
        }
    }

    /** Handles the result of an action on the machine. */
    private void onActionResult(WorkerStateEvent event, long nowNs) {
        busy = false;
        if (event instanceof WorkerStateEvent.HandoverAccepted accepted) {
            onHandoverAccepted(accepted, nowNs);
        } else if (event instanceof WorkerStateEvent.HandoverRejected refused && !state.isShuttingDown()) {
            send(new VmMessage.Failure(refused.phase(), refused.code()));
            startShutdown(refused.code(), true, nowNs);
        } else if (event instanceof WorkerStateEvent.StepApplied applied && state == WorkerState.SETTING_UP) {
            onStepApplied(applied.step(), nowNs);
        } else if (event instanceof WorkerStateEvent.StepFailed failed && state == WorkerState.SETTING_UP) {
            send(new VmMessage.Failure(failed.step().phase(), failed.step().code()));
            startShutdown(failed.step().code(), true, nowNs);
        } else if (event instanceof WorkerStateEvent.ReadmissionApplied applied && !state.isShuttingDown()) {
            onReadmissionApplied(applied, nowNs);
        } else if (event instanceof WorkerStateEvent.StatementSigned signed && state == WorkerState.REPORTING) {
            onStatementSigned(signed, nowNs);
        } else {
            undoLastStep(nowNs);
        }
    }

    private void onHandoverAccepted(WorkerStateEvent.HandoverAccepted accepted, long nowNs) {
        target = accepted.target();
        renewal.schedule(accepted.renewal(), nowNs);
        lease.start(accepted.lease(), nowNs);
        send(new VmMessage.PhaseCompleted(BootPhase.BOOT, boot));
        send(new VmMessage.PhaseCompleted(BootPhase.EVIDENCE, attestation.duration()));
        send(new VmMessage.PhaseCompleted(BootPhase.KEYS, Duration.ofNanos(nowNs - attestation.evidenceNs())));
        phaseNs = nowNs;
        if (state == WorkerState.ACCEPTING_HANDOVER) {
            state = WorkerState.SETTING_UP;
            startStep(SetupStep.MEMORY);
        } else {
            undoLastStep(nowNs);
        }
    }

    private void startStep(SetupStep step) {
        busy = true;
        startedSteps.addLast(step);
        actions.add(new WorkerStateAction.ApplyStep(step));
    }

    private void onStepApplied(SetupStep step, long nowNs) {
        Optional<SetupStep> next = step.next();
        if (next.isEmpty() || next.get().phase() != step.phase()) {
            send(new VmMessage.PhaseCompleted(step.phase(), Duration.ofNanos(nowNs - phaseNs)));
            phaseNs = nowNs;
        }
        if (next.isEmpty()) {
            state = WorkerState.SERVING;
            send(new VmMessage.Ready());
        } else if (!applyReadmission()) {
            startStep(next.get());
        }
    }

    /**
     * Applies a readmission between two steps, or when all are done.
     *
     * @return whether there is one to apply
     */
    private boolean applyReadmission() {
        Optional<WorkerStateAction.ApplyReadmission> next = renewal.pollReadmission();
        next.ifPresent(each -> {
            busy = true;
            actions.add(each);
        });
        return next.isPresent();
    }

    private void onReadmissionApplied(WorkerStateEvent.ReadmissionApplied applied, long nowNs) {
        lease.start(applied.lease(), nowNs);
        renewal.schedule(applied.renewal(), nowNs);
        if (renewal.isForCircuit(applied.fresh())) {
            // Not on another circuit: its peer may be another boot of the controlling VM, and sends its own
            // readmission.
            actions.add(new WorkerStateAction.Send(new VmMessage.Readmitted(applied.fresh())));
        }
        Optional<SetupStep> next = Optional.ofNullable(startedSteps.peekLast()).flatMap(SetupStep::next);
        if (state == WorkerState.SETTING_UP && next.isPresent()) {
            startStep(next.get());
        }
    }

    /** Sends a message at once, or first on the next circuit. */
    private void send(VmMessage message) {
        if (circuit.isOpen()) {
            actions.add(new WorkerStateAction.Send(message));
        } else if (isHandedOver()) {
            unsent.addLast(message);
        }
    }

    private void startShutdown(String code, boolean isFailure, long nowNs) {
        if (state.isShuttingDown()) {
            return;
        }
        shutdown.start(code, isFailure, nowNs);
        state = WorkerState.SHUTTING_DOWN;
        actions.add(new WorkerStateAction.StartShutdown(code, isFailure));
        if (!busy) {
            undoLastStep(nowNs);
        }
    }

    /** Undoes the newest step; the final report comes between the node's steps and the network's. */
    private void undoLastStep(long nowNs) {
        SetupStep last = startedSteps.peekLast();
        if (state == WorkerState.SHUTTING_DOWN && (last == null || last.isOutlived())) {
            startReport(nowNs);
        } else if (last == null) {
            state = WorkerState.TERMINATED;
            actions.add(new WorkerStateAction.Terminate(
                    attestation.wasRequested() || shutdown.isRequestedByHost(), shutdown.reason()));
        } else {
            busy = true;
            startedSteps.removeLast();
            actions.add(new WorkerStateAction.UndoStep(last, shutdown.isFailure()));
        }
    }

    private void startReport(long nowNs) {
        state = WorkerState.REPORTING;
        shutdown.startReportTimeout(nowNs);
        if (isHandedOver()) {
            busy = true;
            actions.add(new WorkerStateAction.SignStatement());
        } else if (circuit.isOpen()) {
            actions.add(new WorkerStateAction.FinishOutput());
        } else {
            tearDown(nowNs);
        }
    }

    private void onStatementSigned(WorkerStateEvent.StatementSigned signed, long nowNs) {
        send(new VmMessage.PhaseCompleted(BootPhase.TEARDOWN, shutdown.duration(nowNs)));
        if (signed.part().isPresent()) {
            statement = signed.part().get();
            sendStatement(nowNs);
        } else if (circuit.isOpen()) {
            actions.add(new WorkerStateAction.FinishOutput());
        } else {
            tearDown(nowNs);
        }
    }

    private void sendStatement(long nowNs) {
        if (statement != null && circuit.isOpen()) {
            actions.add(new WorkerStateAction.Send(new VmMessage.FinalStatement(statement)));
            actions.add(new WorkerStateAction.FinishOutput());
            statement = null;
            shutdown.startReportTimeout(nowNs);
        }
    }

    private void tearDown(long nowNs) {
        state = WorkerState.TEARING_DOWN;
        undoLastStep(nowNs);
    }
}
