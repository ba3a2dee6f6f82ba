package org.cloister.vm.worker.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.vm.worker.steps.SetupStep;
import org.junit.jupiter.api.Test;

/** Courses of which each thing goes wrong now and then. */
class WorkerStateMachineWalkTest {
    @Test
    void whatever_comes_in_whatever_order_the_end_comes_once_and_everything_begun_is_undone() {
        for (int seed = 0; seed < 300; seed++) {
            walk(new Random(seed));
        }
    }

    private void walk(Random random) {
        WorkerStateMachine walked = WorkerStateMachine.create(Duration.ZERO, 0);
        List<WorkerStateAction> done = new ArrayList<>();
        List<WorkerStateEvent> due = new ArrayList<>();
        long at = 0;
        for (int i = 0; i < 2000 && done.stream().noneMatch(WorkerStateAction.Terminate.class::isInstance); i++) {
            at += random.nextInt(5) * 1_000_000_000L;
            WorkerStateEvent event = !due.isEmpty() && random.nextInt(3) > 0 ? due.remove(0) : any(random, i);
            for (WorkerStateAction action : walked.on(event, at)) {
                done.add(action);
                answer(action, random).ifPresent(due::add);
            }
        }
        List<SetupStep> journal = new ArrayList<>();
        for (WorkerStateAction action : done) {
            if (action instanceof WorkerStateAction.ApplyStep todo) {
                journal.add(todo.step());
            } else if (action instanceof WorkerStateAction.UndoStep undo) {
                assertThat(journal.remove(journal.size() - 1)).isEqualTo(undo.step());
            }
        }
        assertThat(journal).isEmpty();
        assertThat(done.get(done.size() - 1)).isInstanceOf(WorkerStateAction.Terminate.class);
        assertThat(walked.on(new WorkerStateEvent.TimerExpired(), at)).isEmpty();
    }

    private WorkerStateEvent any(Random random, int i) {
        return switch (random.nextInt(i > 500 ? 11 : 9)) {
            case 0 -> new WorkerStateEvent.ChannelAttached();
            case 1 -> new WorkerStateEvent.CircuitClosed();
            case 2 -> new WorkerStateEvent.MessageReceived(new VerifierMessage.Question(WorkerStateEventSamples.NONCE));
            case 3 -> new WorkerStateEvent.MessageReceived(WorkerStateEventSamples.HAND_OVER);
            case 4 -> new WorkerStateEvent.MessageReceived(new VerifierMessage.LeaseRenewal());
            case 5 -> new WorkerStateEvent.ChannelLost();
            case 6 -> new WorkerStateEvent.MessageReceived(WorkerStateEventSamples.READMISSION);
            case 9 -> new WorkerStateEvent.MessageReceived(new VerifierMessage.Release());
            case 10 -> new WorkerStateEvent.HostShutdown(Duration.ofSeconds(random.nextInt(30)));
            default -> new WorkerStateEvent.TimerExpired();
        };
    }

    private Optional<WorkerStateEvent> answer(WorkerStateAction action, Random random) {
        boolean well = random.nextInt(10) > 0;
        if (action instanceof WorkerStateAction.OpenCircuit) {
            return Optional.of(
                    well
                            ? new WorkerStateEvent.CircuitOpened(WorkerStateEventSamples.FRESH)
                            : new WorkerStateEvent.CircuitClosed());
        } else if (action instanceof WorkerStateAction.RequestEvidence) {
            return Optional.of(
                    well
                            ? WorkerStateEventSamples.vouched()
                            : new WorkerStateEvent.EvidenceRefused(WorkerStateEventSamples.NONCE, Optional.empty()));
        } else if (action instanceof WorkerStateAction.AcceptHandover) {
            return Optional.of(
                    well
                            ? new WorkerStateEvent.HandoverAccepted(
                                    Duration.ofMinutes(10), Duration.ofHours(12), WorkerStateEventSamples.PLACE)
                            : new WorkerStateEvent.HandoverRejected(BootPhase.KEYS, "nonce"));
        } else if (action instanceof WorkerStateAction.ApplyStep todo) {
            return Optional.of(
                    well
                            ? new WorkerStateEvent.StepApplied(todo.step())
                            : new WorkerStateEvent.StepFailed(todo.step()));
        } else if (action instanceof WorkerStateAction.ApplyReadmission anew) {
            return Optional.of(
                    well
                            ? new WorkerStateEvent.ReadmissionApplied(
                                    anew.fresh(), Duration.ofMinutes(10), Duration.ofHours(12))
                            : new WorkerStateEvent.HandoverRejected(BootPhase.TUNNEL, "no-readmission"));
        } else if (action instanceof WorkerStateAction.UndoStep undo) {
            return Optional.of(new WorkerStateEvent.StepUndone(undo.step()));
        } else if (action instanceof WorkerStateAction.SignStatement) {
            return Optional.of(new WorkerStateEvent.StatementSigned(
                    well ? Optional.of(WorkerStateEventSamples.STATEMENT) : Optional.empty()));
        }
        return action instanceof WorkerStateAction.FinishOutput
                ? Optional.of(new WorkerStateEvent.CircuitClosed())
                : Optional.empty();
    }
}
