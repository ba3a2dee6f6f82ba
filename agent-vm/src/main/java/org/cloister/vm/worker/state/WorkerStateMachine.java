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
    private final Deque<SetupStep> begun = new ArrayDeque<>();
    private final Deque<VmMessage> unsaid = new ArrayDeque<>();
    private final long patienceNs;
    private final CircuitReconnect line;
    private final AttestationRequest vouching = new AttestationRequest();
    private final WorkerLease lease = new WorkerLease();
    private final WorkerCertificateRenewal renewing = new WorkerCertificateRenewal();
    private final WorkerShutdown parting = new WorkerShutdown();
    private List<WorkerStateAction> acts = new ArrayList<>();
    private WorkerState stage = WorkerState.AWAITING_HANDOVER;
    private boolean attached;
    private boolean busy;
    private @Nullable HandoverTarget place;
    private @Nullable ByteString part;
    private long phaseNs;

    private WorkerStateMachine(Duration boot, long nowNs) {
        this.boot = boot;
        this.patienceNs = nowNs + HANDOVER_LIMIT.toNanos();
        this.line = new CircuitReconnect(nowNs);
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
        acts = new ArrayList<>();
        if (stage == WorkerState.TERMINATED) {
            return acts;
        }
        if (event instanceof WorkerStateEvent.ChannelAttached || event instanceof WorkerStateEvent.ChannelLost) {
            attached = event instanceof WorkerStateEvent.ChannelAttached;
        } else if (event instanceof WorkerStateEvent.CircuitOpened opened) {
            opened(opened.fresh(), nowNs);
        } else if (event instanceof WorkerStateEvent.CircuitClosed) {
            closed(nowNs);
        } else if (event instanceof WorkerStateEvent.MessageReceived heard) {
            heard(heard.message(), nowNs);
        } else if (event instanceof WorkerStateEvent.EvidenceReceived vouched) {
            vouched(vouched, nowNs);
        } else if (event instanceof WorkerStateEvent.EvidenceRefused none) {
            notVouched(none, nowNs);
        } else if (event instanceof WorkerStateEvent.StopRequested) {
            leave("stopped", false, nowNs);
        } else if (event instanceof WorkerStateEvent.HostShutdown end) {
            parting.onHostShutdown(end.within(), nowNs);
            // If a job runs here, its owner needs to learn what became of it.
            leave("host", stage == WorkerState.SERVING, nowNs);
        } else if (event instanceof WorkerStateEvent.TimerExpired) {
            wake(nowNs);
        } else {
            worked(event, nowNs);
        }
        proceed(nowNs);
        return acts;
    }

    /** Returns when a timer event is due if nothing else happens; {@link Long#MAX_VALUE} for never. */
    public long wakeNs() {
        long wake = stage == WorkerState.AWAITING_HANDOVER ? Math.min(patienceNs, vouching.wakeNs()) : NEVER;
        if (stage.needsCircuit(isGiven()) && attached && line.isClosed()) {
            wake = Math.min(wake, line.connectNs());
        }
        if (beats()) {
            wake = Math.min(wake, lease.heartbeatNs());
        }
        if (stage.isLeased()) {
            wake = Math.min(wake, lease.expiryNs());
        }
        if (mayRenew()) {
            wake = Math.min(wake, renewing.dueNs());
        }
        return stage == WorkerState.REPORTING && !busy ? Math.min(wake, parting.reportDeadlineNs()) : wake;
    }

    /** Returns the time by which the controlling VM must answer; {@link Long#MAX_VALUE} before the hand-over. */
    long leaseExpiryNs() {
        return lease.expiryNs();
    }

    public boolean isCircuitOpen() {
        return line.isOpen();
    }

    private boolean isGiven() {
        return place != null;
    }

    private boolean mayRenew() {
        return stage == WorkerState.SERVING && !busy && line.isOpen();
    }

    private boolean beats() {
        boolean isReporting = stage.isLeased() || stage == WorkerState.SHUTTING_DOWN;
        return isReporting && isGiven() && line.isOpen();
    }

    private void wake(long nowNs) {
        if (stage == WorkerState.AWAITING_HANDOVER && nowNs >= patienceNs) {
            leave("no-hand-over", true, nowNs);
        } else if (stage == WorkerState.AWAITING_HANDOVER && vouching.pollTimeout(nowNs)) {
            acts.add(new WorkerStateAction.Send(new VmMessage.NoStatement(EvidenceMessage.RefusalReason.FAILED)));
            acts.add(new WorkerStateAction.FinishOutput());
        } else if (stage.isLeased() && lease.isExpired(nowNs)) {
            leave("lease", true, nowNs);
        } else if (stage == WorkerState.REPORTING && !busy && nowNs >= parting.reportDeadlineNs()) {
            end(nowNs);
        }
    }

    /** Adds the actions that are due. */
    private void proceed(long nowNs) {
        if (stage.needsCircuit(isGiven()) && attached && line.isClosed() && nowNs >= line.connectNs()) {
            line.onConnecting();
            acts.add(new WorkerStateAction.OpenCircuit(isGiven()));
        }
        if (stage == WorkerState.AWAITING_HANDOVER) {
            vouching.pollRequest(nowNs)
                    .ifPresent(question -> acts.add(new WorkerStateAction.RequestEvidence(question)));
        }
        if (stage == WorkerState.SERVING && !busy) {
            readmit();
        }
        if (mayRenew() && renewing.pollDue(nowNs)) {
            line.onClosing();
            acts.add(new WorkerStateAction.FinishOutput());
        }
        if (beats() && lease.pollHeartbeat(nowNs)) {
            acts.add(new WorkerStateAction.Send(new VmMessage.Heartbeat()));
        }
    }

    private void opened(Nonce fresh, long nowNs) {
        line.onOpened();
        vouching.onCircuitOpened(nowNs);
        HandoverTarget own = place;
        if (own == null) {
            return;
        }
        renewing.onCircuitOpened(fresh);
        acts.add(new WorkerStateAction.Send(new VmMessage.Resume(own.ticket(), own.slot(), own.vm(), fresh)));
        lease.scheduleHeartbeatNow(nowNs);
        if (stage == WorkerState.SERVING && unsaid.stream().noneMatch(VmMessage.Ready.class::isInstance)) {
            // It may have been in transit when the previous circuit broke; it is sent again after each break.
            acts.add(new WorkerStateAction.Send(new VmMessage.Ready()));
        }
        unsaid.forEach(message -> acts.add(new WorkerStateAction.Send(message)));
        unsaid.clear();
        sayPart(nowNs);
    }

    private void closed(long nowNs) {
        line.onClosed(nowNs);
        renewing.onCircuitClosed();
        if (stage == WorkerState.AWAITING_HANDOVER) {
            vouching.onCircuitClosed();
        } else if (stage == WorkerState.REPORTING && !busy && (part == null || !isGiven())) {
            end(nowNs);
        }
    }

    private void heard(VerifierMessage message, long nowNs) {
        line.onMessage();
        lease.renew(nowNs);
        if (message instanceof VerifierMessage.Question question && stage == WorkerState.AWAITING_HANDOVER) {
            vouching.question(question.nonce(), nowNs);
        } else if (message instanceof HandoverDocument handOver
                && stage == WorkerState.AWAITING_HANDOVER
                && vouching.question().isPresent()) {
            stage = WorkerState.ACCEPTING_HANDOVER;
            busy = true;
            acts.add(new WorkerStateAction.AcceptHandover(
                    handOver, vouching.question().get()));
        } else if (message instanceof ReadmissionGrant readmission) {
            renewing.onReadmission(readmission);
        } else if (message instanceof VerifierMessage.Denied) {
            leave("denied", true, nowNs);
        } else if (message instanceof VerifierMessage.Release) {
            leave("released", false, nowNs);
        }
    }

    private void vouched(WorkerStateEvent.EvidenceReceived vouched, long nowNs) {
        if (stage == WorkerState.AWAITING_HANDOVER && vouching.onEvidence(vouched.nonce(), nowNs)) {
            acts.add(new WorkerStateAction.Send(new VmMessage.Evidence(vouched.statement(), vouched.clock())));
        }
    }

    private void notVouched(WorkerStateEvent.EvidenceRefused none, long nowNs) {
        if (stage != WorkerState.AWAITING_HANDOVER || !vouching.onRefusal(none.nonce(), nowNs)) {
            return;
        }
        if (none.reason().equals(Optional.of(EvidenceMessage.RefusalReason.ANOTHER))) {
            acts.add(new WorkerStateAction.Send(new VmMessage.NoStatement(EvidenceMessage.RefusalReason.ANOTHER)));
            leave("no-statement", true, nowNs);
        }
    }

    /** Handles the result of an action on the machine. */
    private void worked(WorkerStateEvent event, long nowNs) {
        busy = false;
        if (event instanceof WorkerStateEvent.HandoverAccepted taken) {
            taken(taken, nowNs);
        } else if (event instanceof WorkerStateEvent.HandoverRejected none && !stage.isShuttingDown()) {
            say(new VmMessage.Failure(none.phase(), none.code()));
            leave(none.code(), true, nowNs);
        } else if (event instanceof WorkerStateEvent.StepApplied did && stage == WorkerState.SETTING_UP) {
            did(did.step(), nowNs);
        } else if (event instanceof WorkerStateEvent.StepFailed none && stage == WorkerState.SETTING_UP) {
            say(new VmMessage.Failure(none.step().phase(), none.step().code()));
            leave(none.step().code(), true, nowNs);
        } else if (event instanceof WorkerStateEvent.ReadmissionApplied done && !stage.isShuttingDown()) {
            readmitted(done, nowNs);
        } else if (event instanceof WorkerStateEvent.StatementSigned signed && stage == WorkerState.REPORTING) {
            signed(signed, nowNs);
        } else {
            undo(nowNs);
        }
    }

    private void taken(WorkerStateEvent.HandoverAccepted taken, long nowNs) {
        place = taken.target();
        renewing.schedule(taken.renewal(), nowNs);
        lease.start(taken.lease(), nowNs);
        say(new VmMessage.PhaseCompleted(BootPhase.BOOT, boot));
        say(new VmMessage.PhaseCompleted(BootPhase.EVIDENCE, vouching.duration()));
        say(new VmMessage.PhaseCompleted(BootPhase.KEYS, Duration.ofNanos(nowNs - vouching.evidenceNs())));
        phaseNs = nowNs;
        if (stage == WorkerState.ACCEPTING_HANDOVER) {
            stage = WorkerState.SETTING_UP;
            begin(SetupStep.MEMORY);
        } else {
            undo(nowNs);
        }
    }

    private void begin(SetupStep step) {
        busy = true;
        begun.addLast(step);
        acts.add(new WorkerStateAction.ApplyStep(step));
    }

    private void did(SetupStep step, long nowNs) {
        Optional<SetupStep> next = step.next();
        if (next.isEmpty() || next.get().phase() != step.phase()) {
            say(new VmMessage.PhaseCompleted(step.phase(), Duration.ofNanos(nowNs - phaseNs)));
            phaseNs = nowNs;
        }
        if (next.isEmpty()) {
            stage = WorkerState.SERVING;
            say(new VmMessage.Ready());
        } else if (!readmit()) {
            begin(next.get());
        }
    }

    /**
     * Applies a readmission between two steps, or when all are done.
     *
     * @return whether there is one to apply
     */
    private boolean readmit() {
        Optional<WorkerStateAction.ApplyReadmission> next = renewing.pollReadmission();
        next.ifPresent(each -> {
            busy = true;
            acts.add(each);
        });
        return next.isPresent();
    }

    private void readmitted(WorkerStateEvent.ReadmissionApplied done, long nowNs) {
        lease.start(done.lease(), nowNs);
        renewing.schedule(done.renewal(), nowNs);
        if (renewing.isForCircuit(done.fresh())) {
            // Not on another circuit: its peer may be another boot of the controlling VM, and sends its own
            // readmission.
            acts.add(new WorkerStateAction.Send(new VmMessage.Readmitted(done.fresh())));
        }
        Optional<SetupStep> next = Optional.ofNullable(begun.peekLast()).flatMap(SetupStep::next);
        if (stage == WorkerState.SETTING_UP && next.isPresent()) {
            begin(next.get());
        }
    }

    /** Sends a message at once, or first on the next circuit. */
    private void say(VmMessage message) {
        if (line.isOpen()) {
            acts.add(new WorkerStateAction.Send(message));
        } else if (isGiven()) {
            unsaid.addLast(message);
        }
    }

    private void leave(String code, boolean isFailure, long nowNs) {
        if (stage.isShuttingDown()) {
            return;
        }
        parting.start(code, isFailure, nowNs);
        stage = WorkerState.SHUTTING_DOWN;
        acts.add(new WorkerStateAction.StartShutdown(code, isFailure));
        if (!busy) {
            undo(nowNs);
        }
    }

    /** Undoes the newest step; the final report comes between the node's steps and the network's. */
    private void undo(long nowNs) {
        SetupStep last = begun.peekLast();
        if (stage == WorkerState.SHUTTING_DOWN && (last == null || last.isOutlived())) {
            farewell(nowNs);
        } else if (last == null) {
            stage = WorkerState.TERMINATED;
            acts.add(new WorkerStateAction.Terminate(
                    vouching.wasRequested() || parting.isRequestedByHost(), parting.reason()));
        } else {
            busy = true;
            begun.removeLast();
            acts.add(new WorkerStateAction.UndoStep(last, parting.isFailure()));
        }
    }

    private void farewell(long nowNs) {
        stage = WorkerState.REPORTING;
        parting.startReportTimeout(nowNs);
        if (isGiven()) {
            busy = true;
            acts.add(new WorkerStateAction.SignStatement());
        } else if (line.isOpen()) {
            acts.add(new WorkerStateAction.FinishOutput());
        } else {
            end(nowNs);
        }
    }

    private void signed(WorkerStateEvent.StatementSigned signed, long nowNs) {
        say(new VmMessage.PhaseCompleted(BootPhase.TEARDOWN, parting.duration(nowNs)));
        if (signed.part().isPresent()) {
            part = signed.part().get();
            sayPart(nowNs);
        } else if (line.isOpen()) {
            acts.add(new WorkerStateAction.FinishOutput());
        } else {
            end(nowNs);
        }
    }

    private void sayPart(long nowNs) {
        if (part != null && line.isOpen()) {
            acts.add(new WorkerStateAction.Send(new VmMessage.FinalStatement(part)));
            acts.add(new WorkerStateAction.FinishOutput());
            part = null;
            parting.startReportTimeout(nowNs);
        }
    }

    private void end(long nowNs) {
        stage = WorkerState.TEARING_DOWN;
        undo(nowNs);
    }
}
