package org.cloister.vm.worker.state;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.vm.worker.state.WorkerStateAction.AcceptHandover;
import org.cloister.vm.worker.state.WorkerStateAction.ApplyStep;
import org.cloister.vm.worker.state.WorkerStateAction.FinishOutput;
import org.cloister.vm.worker.state.WorkerStateAction.OpenCircuit;
import org.cloister.vm.worker.state.WorkerStateAction.RequestEvidence;
import org.cloister.vm.worker.state.WorkerStateAction.Send;
import org.cloister.vm.worker.state.WorkerStateAction.SignStatement;
import org.cloister.vm.worker.state.WorkerStateAction.UndoStep;
import org.cloister.vm.worker.state.WorkerStateEvent.ChannelAttached;
import org.cloister.vm.worker.state.WorkerStateEvent.CircuitClosed;
import org.cloister.vm.worker.state.WorkerStateEvent.CircuitOpened;
import org.cloister.vm.worker.state.WorkerStateEvent.EvidenceReceived;
import org.cloister.vm.worker.state.WorkerStateEvent.HandoverAccepted;
import org.cloister.vm.worker.state.WorkerStateEvent.MessageReceived;
import org.cloister.vm.worker.state.WorkerStateEvent.StatementSigned;
import org.cloister.vm.worker.state.WorkerStateEvent.StepApplied;
import org.cloister.vm.worker.state.WorkerStateEvent.StepUndone;
import org.cloister.vm.worker.state.WorkerStateEvent.TimerExpired;
import org.cloister.vm.worker.steps.SetupStep;

/** A worker's state machine, the time, and the events that its tests share. */
class WorkerStateMachineFixture {
    static final Nonce NONCE = WorkerStateEventSamples.NONCE;
    static final Duration LEASE = Duration.ofMinutes(10);
    static final Duration RENEWAL = Duration.ofHours(12);
    static final VmMessage.Resume RESUME = WorkerStateEventSamples.RESUME;

    final ByteString statement = WorkerStateEventSamples.STATEMENT;
    final HandoverDocument handOver = WorkerStateEventSamples.HAND_OVER;
    final List<WorkerStateAction> actions = new ArrayList<>();
    long now = 1_000_000_000L;
    final WorkerStateMachine stateMachine = WorkerStateMachine.create(Duration.ofSeconds(4), now);

    List<WorkerStateAction> on(WorkerStateEvent event) {
        List<WorkerStateAction> now = stateMachine.on(event, this.now);
        actions.addAll(now);
        return now;
    }

    List<WorkerStateAction> after(Duration time) {
        now += time.toNanos();
        return on(new TimerExpired());
    }

    static WorkerStateAction say(VmMessage message) {
        return new Send(message);
    }

    List<VmMessage> said() {
        return actions.stream()
                .filter(Send.class::isInstance)
                .map(action -> ((Send) action).message())
                .toList();
    }

    void question() {
        assertThat(on(new ChannelAttached())).containsExactly(new OpenCircuit(false));
        assertThat(on(new CircuitOpened(WorkerStateEventSamples.FRESH))).isEmpty();
        assertThat(on(new MessageReceived(new VerifierMessage.Question(NONCE))))
                .containsExactly(new RequestEvidence(NONCE));
    }

    EvidenceReceived vouched() {
        return WorkerStateEventSamples.vouched();
    }

    void shown() {
        question();
        now += Duration.ofSeconds(2).toNanos();
        assertThat(on(vouched())).containsExactly(say(new VmMessage.Evidence(statement, Instant.EPOCH)));
    }

    void given() {
        shown();
        assertThat(on(new MessageReceived(handOver))).containsExactly(new AcceptHandover(handOver, NONCE));
    }

    void taken() {
        given();
        now += Duration.ofSeconds(1).toNanos();
        assertThat(on(new HandoverAccepted(LEASE, RENEWAL, WorkerStateEventSamples.PLACE)))
                .containsExactly(
                        say(new VmMessage.PhaseCompleted(BootPhase.BOOT, Duration.ofSeconds(4))),
                        say(new VmMessage.PhaseCompleted(BootPhase.EVIDENCE, Duration.ofSeconds(2))),
                        say(new VmMessage.PhaseCompleted(BootPhase.KEYS, Duration.ofSeconds(1))),
                        new ApplyStep(SetupStep.MEMORY));
    }

    void upTo(SetupStep last) {
        taken();
        for (SetupStep step : SetupStep.values()) {
            if (step == last) {
                return;
            }
            on(new StepApplied(step));
        }
    }

    void ready() {
        upTo(SetupStep.SLURMD);
        now += Duration.ofSeconds(3).toNanos();
        assertThat(on(new StepApplied(SetupStep.SLURMD)))
                .containsExactly(
                        say(new VmMessage.PhaseCompleted(BootPhase.REGISTRATION, Duration.ofSeconds(3))),
                        say(new VmMessage.Ready()));
    }

    /** Answers what is to be undone and signed, and the end of the circuit, until nothing is left. */
    List<SetupStep> leaves() {
        List<SetupStep> undone = new ArrayList<>();
        List<WorkerStateAction> next = new ArrayList<>(actions.subList(actions.size() - 1, actions.size()));
        while (!next.isEmpty()) {
            List<WorkerStateAction> more = new ArrayList<>();
            for (WorkerStateAction action : next) {
                if (action instanceof UndoStep undo) {
                    undone.add(undo.step());
                    more.addAll(on(new StepUndone(undo.step())));
                } else if (action instanceof SignStatement) {
                    more.addAll(on(new StatementSigned(Optional.of(statement))));
                } else if (action instanceof FinishOutput) {
                    more.addAll(on(new CircuitClosed()));
                }
            }
            next = more;
        }
        return undone;
    }

    static List<SetupStep> backFrom(SetupStep last) {
        List<SetupStep> steps = new ArrayList<>();
        for (SetupStep step : SetupStep.values()) {
            if (step.compareTo(last) <= 0) {
                steps.add(0, step);
            }
        }
        return steps;
    }
}
