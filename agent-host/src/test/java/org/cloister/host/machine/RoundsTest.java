package org.cloister.host.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.cloister.host.ledger.Answer;
import org.cloister.host.ledger.Building;
import org.cloister.host.ledger.End;
import org.cloister.host.ledger.Entry;
import org.cloister.host.ledger.Ledger;
import org.cloister.host.ledger.Machine;
import org.cloister.host.ledger.Part;
import org.cloister.host.ledger.Round;
import org.cloister.host.ledger.Round.Outcome;
import org.cloister.host.ledger.Seen;
import org.cloister.host.ledger.Thing;
import org.cloister.host.ledger.Times;
import org.cloister.host.libvirt.HypervisorEvent;
import org.cloister.host.vm.VmOwner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class RoundsTest {
    @TempDir
    private Path folder;

    private final EmptyMachine machine = new EmptyMachine();
    private final BlockingQueue<Outcome> outcomes = new LinkedBlockingQueue<>();
    private volatile boolean bridgeAnswers = true;
    private final AtomicInteger told = new AtomicInteger();

    /** Has nothing, or one domain that does not go; and answers or does not. */
    private static final class EmptyMachine implements Machine {
        private volatile boolean answers = true;
        private volatile boolean faulty;
        private volatile boolean stuck;

        @Override
        public Seen look() {
            if (faulty) {
                throw new IllegalStateException("a fault");
            }
            Map<Part, Answer<Thing>> all = new EnumMap<>(Part.class);
            for (Part part : Part.values()) {
                all.put(part, answers ? new Answer.Known<>(Set.of()) : new Answer.Unknown<>("silent"));
            }
            if (stuck) {
                String name = Part.DOMAIN.nameOf(PlanSamples.OWNER);
                Thing domain = new Thing(Part.DOMAIN, name, Optional.of(PlanSamples.OWNER), true);
                all.put(Part.DOMAIN, new Answer.Known<>(Set.of(domain)));
            }
            return new Seen(all, new Answer.Known<>(Set.of()));
        }

        @Override
        public void resume(VmOwner owner) {
            throw nothing();
        }

        @Override
        public void reopen(VmOwner owner) {
            throw nothing();
        }

        @Override
        public void askOff(VmOwner owner) {
            throw nothing();
        }

        @Override
        public void remove(VmOwner owner, Part part) throws IOException {
            throw new IOException("it does not go");
        }

        private static IllegalStateException nothing() {
            return new IllegalStateException("there is nothing to act on");
        }
    }

    private interface Story {
        void tell(Rounds rounds) throws Exception;
    }

    private void play(Story story) throws Exception {
        InstantSource clock = InstantSource.system();
        try (Ledger ledger = Ledger.open(folder.resolve("ledger"))) {
            Times times = new Times(Duration.ofMinutes(5), Duration.ofSeconds(30));
            Round round = new Round(ledger, new Building(ledger, clock), machine, times, clock);
            Rounds.Told ports = () -> {
                told.incrementAndGet();
                if (!bridgeAnswers) {
                    throw new IOException("no bridge");
                }
            };
            try (Rounds rounds = new Rounds(round, ports, Duration.ofSeconds(60), clock)) {
                assertThat(rounds.last()).isEmpty();
                rounds.start((outcome, took) -> outcomes.add(outcome));
                story.tell(rounds);
            }
        }
    }

    @Test
    void what_was_due_long_ago_and_does_not_go_is_tried_less_and_less_often() throws Exception {
        machine.stuck = true;
        try (Ledger ledger = Ledger.open(folder.resolve("ledger"))) {
            ledger.claim(Entry.claim(PlanSamples.OWNER, false, 1));
            ledger.end(PlanSamples.OWNER.uuid(), new End(End.Why.ASKED, "", 1));
        }
        play(rounds -> {
            long begin = System.nanoTime();
            for (int i = 0; i < 3; i++) {
                assertThat(next().troubles()).singleElement().asString().contains("it does not go");
            }
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofMillis(1400));
        });
    }

    private Outcome next() throws InterruptedException {
        return outcomes.take();
    }

    @Test
    void a_round_begins_at_once_and_whenever_there_is_something_to_see() throws Exception {
        play(rounds -> {
            Outcome first = next();
            assertThat(first.isClean()).isTrue();
            assertThat(outcomes.poll(1, TimeUnit.SECONDS)).as("nobody rang").isNull();
            rounds.ring();
            next();
            rounds.heard(new HypervisorEvent.Ended("0b7c3f5e-9f8a-4a53-8d0e-6a3b9a1d2c4f", true));
            next();
            rounds.heard(new HypervisorEvent.Lost("gone"));
            assertThat(outcomes.poll(1, TimeUnit.SECONDS)).as("nothing to see").isNull();
            rounds.heard(new HypervisorEvent.Found());
            assertThat(next().isClean()).isTrue();
            assertThat(rounds.last()).isPresent();
            assertThat(told).hasValue(4);
        });
    }

    @Test
    void many_rings_make_few_rounds() throws Exception {
        play(rounds -> {
            next();
            for (int i = 0; i < 10_000; i++) {
                rounds.ring();
            }
            next();
            assertThat(outcomes.poll(1, TimeUnit.SECONDS))
                    .satisfiesAnyOf(
                            outcome -> assertThat(outcome).isNull(),
                            outcome -> assertThat(outcomes).isEmpty());
        });
    }

    @Test
    void a_source_that_has_not_answered_is_asked_again_by_itself_and_the_bridge_is_told_nothing() throws Exception {
        machine.answers = false;
        play(rounds -> {
            assertThat(next().unheard()).hasSize(Part.values().length);
            assertThat(next().isClean()).isFalse();
            assertThat(told).hasValue(0);
            machine.answers = true;
            Outcome outcome = next();
            while (!outcome.isClean()) {
                outcome = next();
            }
            assertThat(told).hasValue(1);
        });
    }

    @Test
    void a_trouble_is_tried_again_by_itself_and_is_said() throws Exception {
        bridgeAnswers = false;
        play(rounds -> {
            assertThat(next().troubles()).containsExactly("no bridge");
            assertThat(next().isClean()).isFalse();
            bridgeAnswers = true;
            assertThat(next().isClean()).isTrue();
        });
    }

    @Test
    void a_fault_in_one_round_is_not_the_last_of_it() throws Exception {
        machine.faulty = true;
        play(rounds -> {
            Outcome faulty = next();
            assertThat(faulty.troubles()).singleElement().asString().contains("a fault of agent-host");
            assertThat(rounds.last()).isPresent();
            machine.faulty = false;
            Outcome outcome = next();
            while (!outcome.isClean()) {
                outcome = next();
            }
        });
    }
}
