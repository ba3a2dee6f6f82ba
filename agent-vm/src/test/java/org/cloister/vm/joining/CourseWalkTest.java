package org.cloister.vm.joining;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.VerifierMessage;
import org.junit.jupiter.api.Test;

/** Courses of which each thing goes wrong now and then. */
class CourseWalkTest {
    @Test
    void whatever_comes_in_whatever_order_the_end_comes_once_and_everything_begun_is_undone() {
        for (int seed = 0; seed < 300; seed++) {
            walk(new Random(seed));
        }
    }

    private void walk(Random random) {
        Course walked = Course.assigned(Duration.ZERO, 0);
        List<Act> done = new ArrayList<>();
        List<Event> due = new ArrayList<>();
        long at = 0;
        for (int i = 0; i < 2000 && done.stream().noneMatch(Act.End.class::isInstance); i++) {
            at += random.nextInt(5) * 1_000_000_000L;
            Event event = !due.isEmpty() && random.nextInt(3) > 0 ? due.remove(0) : any(random, i);
            for (Act act : walked.on(event, at)) {
                done.add(act);
                answer(act, random).ifPresent(due::add);
            }
        }
        List<Step> begun = new ArrayList<>();
        for (Act act : done) {
            if (act instanceof Act.Do todo) {
                begun.add(todo.step());
            } else if (act instanceof Act.Undo undo) {
                assertThat(begun.remove(begun.size() - 1)).isEqualTo(undo.step());
            }
        }
        assertThat(begun).isEmpty();
        assertThat(done.get(done.size() - 1)).isInstanceOf(Act.End.class);
        assertThat(walked.on(new Event.Woke(), at)).isEmpty();
    }

    private Event any(Random random, int i) {
        return switch (random.nextInt(i > 500 ? 11 : 9)) {
            case 0 -> new Event.Attached();
            case 1 -> new Event.Closed();
            case 2 -> new Event.Heard(new VerifierMessage.Question(Heard.NONCE));
            case 3 -> new Event.Heard(Heard.HAND_OVER);
            case 4 -> new Event.Heard(new VerifierMessage.Beat());
            case 5 -> new Event.Detached();
            case 6 -> new Event.Heard(Heard.READMISSION);
            case 9 -> new Event.Heard(new VerifierMessage.Release());
            case 10 -> new Event.EndedByHost(Duration.ofSeconds(random.nextInt(30)));
            default -> new Event.Woke();
        };
    }

    private Optional<Event> answer(Act act, Random random) {
        boolean well = random.nextInt(10) > 0;
        if (act instanceof Act.Call) {
            return Optional.of(well ? new Event.Opened(Heard.FRESH) : new Event.Closed());
        } else if (act instanceof Act.AskHost) {
            return Optional.of(well ? Heard.vouched() : new Event.NotVouched(Heard.NONCE, Optional.empty()));
        } else if (act instanceof Act.Take) {
            return Optional.of(
                    well
                            ? new Event.Taken(Duration.ofMinutes(10), Duration.ofHours(12), Heard.PLACE)
                            : new Event.NotTaken(BootPhase.KEYS, "nonce"));
        } else if (act instanceof Act.Do todo) {
            return Optional.of(well ? new Event.Did(todo.step()) : new Event.Failed(todo.step()));
        } else if (act instanceof Act.Readmit anew) {
            return Optional.of(
                    well
                            ? new Event.Readmitted(anew.fresh(), Duration.ofMinutes(10), Duration.ofHours(12))
                            : new Event.NotTaken(BootPhase.TUNNEL, "no-readmission"));
        } else if (act instanceof Act.Undo undo) {
            return Optional.of(new Event.Undid(undo.step()));
        } else if (act instanceof Act.Sign) {
            return Optional.of(new Event.Signed(well ? Optional.of(Heard.STATEMENT) : Optional.empty()));
        }
        return act instanceof Act.HangUp ? Optional.of(new Event.Closed()) : Optional.empty();
    }
}
