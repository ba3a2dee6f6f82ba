package org.cloister.vm.worker;

import com.google.protobuf.ByteString;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
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
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.ReadmissionGrant;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.link.RelayMessage;
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
    private static final Duration LEAVING = Duration.ofMinutes(10);

    private static final org.cloister.protocol.handover.BootPhase KEYS = org.cloister.protocol.handover.BootPhase.KEYS;

    private final SecureRandom random = new SecureRandom();
    private final WorkerIdentity life;
    private final WorkerStateMachine course;
    private final NodeSetup steps;
    private final BootJournal begun;
    private final Environment reports;
    private final ScheduledExecutorService decisions =
            Executors.newSingleThreadScheduledExecutor(work -> thread(work, "worker"));
    private final ExecutorService hands = Executors.newSingleThreadExecutor(work -> thread(work, "worker-hands"));
    private final CountDownLatch over = new CountDownLatch(1);
    private volatile boolean off;
    private @Nullable AgentAttachStream attachment;
    private @Nullable ControllerSession talk;
    private @Nullable ScheduledFuture<?> wake;

    WorkerVm(WorkerIdentity life, WorkerStateMachine course, NodeSetup steps, BootJournal begun, Environment reports) {
        this.life = life;
        this.course = course;
        this.steps = steps;
        this.begun = begun;
        this.reports = reports;
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
        tell(new WorkerStateEvent.StopRequested());
        if (!over.await(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            LOG.error("worker: not gone within {} s", limit.toSeconds());
        }
    }

    /**
     * Waits until the worker has ended.
     *
     * @return whether the VM ends, too; otherwise this process alone ends, and another one starts
     */
    public boolean awaitEnd() throws InterruptedException {
        over.await();
        return off;
    }

    @Override
    public void onAttached(AgentAttachStream attached) {
        attached.serve(life.name());
        decisions.execute(() -> attachment = attached);
        tell(new WorkerStateEvent.ChannelAttached());
    }

    @Override
    public void onLost(String why) {
        decisions.execute(() -> attachment = null);
        tell(new WorkerStateEvent.ChannelLost());
    }

    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {
        refused.ifPresent(why -> LOG.warn("name {}: not served: {}", name, why));
    }

    @Override
    public void onDial(AgentAttachStream attached, RelayMessage.Dial dial) {
        attached.refuse(dial, CloseReason.REFUSED);
    }

    @Override
    public void onShutdownRequest(Duration within) {
        LOG.warn("the host ends this VM within {} s", within.toSeconds());
        tell(new WorkerStateEvent.HostShutdown(within));
    }

    /**
     * Closes the circuit if its peer is revoked. The VM's trust store has already added the list if the project's
     * owners issued it.
     */
    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // failures of the channel arrive as its close
    public boolean onRevocationList(byte[] signed) {
        decisions.execute(() -> {
            if (talk != null && course.isCircuitOpen() && !life.isTrusted(talk.circuit())) {
                LOG.warn("circuit to {}: ended: it was revoked", life.controller());
                talk.circuit().close(CloseReason.REVOKED);
            }
        });
        return false;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // nothing is thrown in it
    private void tell(WorkerStateEvent event) {
        if (!decisions.isShutdown()) {
            decisions.execute(() -> decide(event));
        }
    }

    private void decide(WorkerStateEvent event) {
        try {
            for (WorkerStateAction act : course.on(event, reports.nanos().getAsLong())) {
                perform(act);
            }
            reports.metrics().setCircuitOpen(course.isCircuitOpen());
            wakeAt(course.wakeNs());
        } catch (RuntimeException e) {
            // Nothing else would end a VM that decides nothing any more, and it has its project's keys.
            LOG.error("worker: a defect; the VM ends", e);
            end(true, "defect");
        }
    }

    private void wakeAt(long whenNs) {
        if (wake != null) {
            wake.cancel(false);
        }
        if (whenNs != Long.MAX_VALUE && !decisions.isShutdown()) {
            long in = Math.max(0, whenNs - reports.nanos().getAsLong());
            wake = decisions.schedule(() -> decide(new WorkerStateEvent.TimerExpired()), in, TimeUnit.NANOSECONDS);
        }
    }

    private void perform(WorkerStateAction act) {
        if (act instanceof WorkerStateAction.OpenCircuit call) {
            call(call.certified());
        } else if (act instanceof WorkerStateAction.Send say) {
            say(say.message());
        } else if (act instanceof WorkerStateAction.FinishOutput && talk != null) {
            talk.finishOutput();
        } else if (act instanceof WorkerStateAction.RequestEvidence ask) {
            askHost(ask.nonce());
        } else if (act instanceof WorkerStateAction.AcceptHandover take) {
            hands.execute(() -> take(take.handOver(), take.nonce()));
        } else if (act instanceof WorkerStateAction.ApplyReadmission anew) {
            hands.execute(() -> readmit(anew.readmission(), anew.fresh()));
        } else if (act instanceof WorkerStateAction.ApplyStep todo) {
            hands.execute(() -> take(todo.step()));
        } else if (act instanceof WorkerStateAction.UndoStep undo) {
            hands.execute(() -> undo(undo));
        } else if (act instanceof WorkerStateAction.StartShutdown leave) {
            leave(leave);
        } else if (act instanceof WorkerStateAction.SignStatement) {
            hands.execute(
                    () -> tell(new WorkerStateEvent.StatementSigned(life.signStatement(steps.scratchErasedAt()))));
        } else if (act instanceof WorkerStateAction.Terminate end) {
            end(end.powerOff(), end.reason());
        }
    }

    private void say(VmMessage message) {
        if (message instanceof VmMessage.Ready) {
            life.recordRegistration(reports.clock().instant());
            say(AgentVmPhase.READY);
        } else if (message instanceof VmMessage.PhaseCompleted passed) {
            reports.metrics().phasePassed(phase(passed.phase()), passed.took());
        } else if (message instanceof VmMessage.Failure trouble) {
            reports.metrics().attemptFailed(phase(trouble.phase()));
        }
        if (talk != null) {
            talk.send(message);
        }
    }

    /** A worker passes all of these phases except that of the controlling VM's drive. */
    private static WorkerPhase phase(org.cloister.protocol.handover.BootPhase of) {
        return WorkerPhase.valueOf(of.name());
    }

    private void say(AgentVmPhase phase) {
        try {
            reports.status().writePhase(phase);
        } catch (IOException e) {
            LOG.warn("status: not written: {}; see the folder it is in", e.toString());
        }
    }

    private void call(boolean certified) {
        AgentAttachStream on = attachment;
        if (on == null) {
            tell(new WorkerStateEvent.CircuitClosed());
            return;
        }
        ControllerSession[] made = new ControllerSession[1];
        life.openCircuit(on.link(), certified, circuit -> {
                    made[0] = new ControllerSession(
                            circuit,
                            life.messageOrder(certified),
                            message -> tell(new WorkerStateEvent.MessageReceived(message)),
                            () -> tell(new WorkerStateEvent.CircuitClosed()));
                    // Before any message received on it.
                    decisions.execute(() -> talk = made[0]);
                    tell(new WorkerStateEvent.CircuitOpened(Nonce.random(random)));
                    return made[0];
                })
                .addListener((Future<Circuit> opened) -> {
                    if (!opened.isSuccess()) {
                        LOG.warn(
                                "circuit to {}: {}; tried again",
                                life.controller(),
                                opened.cause().getMessage());
                        if (made[0] == null) {
                            tell(new WorkerStateEvent.CircuitClosed());
                        }
                    }
                });
    }

    private void askHost(Nonce nonce) {
        AgentAttachStream on = attachment;
        ControllerSession with = talk;
        try {
            begun.recordEvidenceRequest(CertificateRole.WORKER);
        } catch (IOException e) {
            LOG.error("what is begun cannot be noted: {}", e.toString());
            tell(new WorkerStateEvent.EvidenceRefused(nonce, Optional.empty()));
            return;
        }
        if (on == null || with == null) {
            tell(new WorkerStateEvent.EvidenceRefused(nonce, Optional.empty()));
            return;
        }
        EvidenceQuery.ask(on.link(), life.claim(with.circuit(), nonce)).addListener((Future<DsseEnvelope> answer) -> {
            if (answer.isSuccess()) {
                vouched(nonce, answer.getNow());
            } else {
                LOG.warn("evidence: {}", answer.cause().getMessage());
                Optional<EvidenceMessage.RefusalReason> why = answer.cause() instanceof EvidenceRefusedException none
                        ? Optional.of(none.why())
                        : Optional.empty();
                tell(new WorkerStateEvent.EvidenceRefused(nonce, why));
            }
        });
    }

    private void vouched(Nonce nonce, DsseEnvelope statement) {
        try {
            life.recordEvidence(statement);
        } catch (IOException e) {
            // It may be of a later release; the controlling VM reports its decision on it.
            LOG.warn("evidence: {}", e.getMessage());
        }
        say(AgentVmPhase.VOUCHED);
        tell(new WorkerStateEvent.EvidenceReceived(
                nonce, ByteString.copyFrom(statement.bytes()), reports.clock().instant()));
    }

    private void take(HandoverDocument handOver, Nonce nonce) {
        try {
            life.accept(handOver, nonce);
            say(AgentVmPhase.GIVEN);
            tell(new WorkerStateEvent.HandoverAccepted(
                    handOver.lease(), life.acceptedHandover().renewalDelay(), handOver.target()));
        } catch (HandoverRefused e) {
            LOG.error("{}", e.getMessage());
            tell(new WorkerStateEvent.HandoverRejected(KEYS, e.code()));
        } catch (RuntimeException e) {
            // The state machine does nothing before it receives this event; a hand-over is the first input that others
            // wrote.
            LOG.error("hand-over: a defect", e);
            tell(new WorkerStateEvent.HandoverRejected(KEYS, "defect"));
        }
    }

    private void readmit(ReadmissionGrant readmission, Nonce fresh) {
        try {
            life.accept(readmission, fresh);
            AcceptedHandover given = life.acceptedHandover();
            boolean opened = readmission.mungeKey().isPresent();
            steps.applyReadmission(given, opened);
            LOG.info("certificate until {}{}", given.expiresAt(), opened ? "; the controlling VM was opened anew" : "");
            tell(new WorkerStateEvent.ReadmissionApplied(fresh, given.lease(), given.renewalDelay()));
        } catch (HandoverRefused e) {
            LOG.error("{}", e.getMessage());
            tell(new WorkerStateEvent.HandoverRejected(KEYS, e.code()));
        } catch (IOException | RuntimeException e) {
            LOG.error("readmission: {}", e.toString());
            tell(new WorkerStateEvent.HandoverRejected(
                    org.cloister.protocol.handover.BootPhase.TUNNEL, "no-readmission"));
        }
    }

    private void take(SetupStep step) {
        long before = System.nanoTime();
        try {
            steps.apply(step, life.acceptedHandover());
            LOG.info("{}: done in {} ms", step, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - before));
            if (step == SetupStep.TUNNEL) {
                say(AgentVmPhase.TUNNEL);
            }
            tell(new WorkerStateEvent.StepApplied(step));
        } catch (IOException | RuntimeException e) {
            LOG.error("{}: {}", step, e.toString());
            tell(new WorkerStateEvent.StepFailed(step));
        }
    }

    private void undo(WorkerStateAction.UndoStep undo) {
        try {
            steps.undo(undo.step(), undo.failed());
        } catch (IOException | RuntimeException e) {
            LOG.error("{}: not undone: {}", undo.step(), e.toString());
        }
        tell(new WorkerStateEvent.StepUndone(undo.step()));
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the process ends before, or by it
    private void leave(WorkerStateAction.StartShutdown leave) {
        LOG.info("worker leaves: {}", leave.reason());
        Instant now = reports.clock().instant();
        life.recordShutdown(now);
        say(AgentVmPhase.LEAVING);
        decisions.schedule(() -> end(true, "leaving-took-too-long"), LEAVING.toSeconds(), TimeUnit.SECONDS);
    }

    private void end(boolean powerOff, String why) {
        if (over.getCount() == 0) {
            return;
        }
        LOG.info("worker is gone: {}{}", why, powerOff ? "; the VM goes off" : "");
        off = powerOff;
        life.close();
        if (powerOff) {
            steps.powerOff();
        }
        over.countDown();
    }

    @Override
    public void close() {
        decisions.shutdownNow();
        hands.shutdownNow();
        life.close();
    }
}
