package org.cloister.host.reconcile;

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
import org.cloister.host.libvirt.HypervisorEvent;
import org.cloister.host.reconcile.ReconcilePass.Outcome;
import org.cloister.host.resources.VmPlanSamples;
import org.cloister.host.vm.ResourceOwner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class ReconcileLoopTest {
    @TempDir
    private Path folder;

    private final EmptyMachine machine = new EmptyMachine();
    private final BlockingQueue<Outcome> outcomes = new LinkedBlockingQueue<>();
    private volatile boolean bridgeAnswers = true;
    private final AtomicInteger reported = new AtomicInteger();

    /** Has nothing, or one domain that does not go; and answers or does not. */
    private static final class EmptyMachine implements HostBackend {
        private volatile boolean answers = true;
        private volatile boolean faulty;
        private volatile boolean stuck;

        @Override
        public ObservedState observe() {
            if (faulty) {
                throw new IllegalStateException("a fault");
            }
            Map<ResourceKind, SourceAnswer<HostResource>> all = new EnumMap<>(ResourceKind.class);
            for (ResourceKind part : ResourceKind.values()) {
                all.put(part, answers ? new SourceAnswer.Known<>(Set.of()) : new SourceAnswer.Unknown<>("silent"));
            }
            if (stuck) {
                String name = ResourceKind.DOMAIN.nameOf(VmPlanSamples.OWNER);
                HostResource domain =
                        new HostResource(ResourceKind.DOMAIN, name, Optional.of(VmPlanSamples.OWNER), true);
                all.put(ResourceKind.DOMAIN, new SourceAnswer.Known<>(Set.of(domain)));
            }
            return new ObservedState(all, new SourceAnswer.Known<>(Set.of()));
        }

        @Override
        public void resume(ResourceOwner owner) {
            throw nothing();
        }

        @Override
        public void restorePort(ResourceOwner owner) {
            throw nothing();
        }

        @Override
        public void requestPowerOff(ResourceOwner owner) {
            throw nothing();
        }

        @Override
        public void remove(ResourceOwner owner, ResourceKind part) throws IOException {
            throw new IOException("it does not go");
        }

        private static IllegalStateException nothing() {
            return new IllegalStateException("there is nothing to act on");
        }
    }

    private interface Scenario {
        void report(ReconcileLoop loop) throws Exception;
    }

    private void play(Scenario scenario) throws Exception {
        InstantSource clock = InstantSource.system();
        try (VmLedger ledger = VmLedger.open(folder.resolve("ledger"))) {
            VmTimeouts times = new VmTimeouts(Duration.ofMinutes(5), Duration.ofMinutes(10), Duration.ofSeconds(30));
            ReconcilePass round = new ReconcilePass(ledger, new VmBuilder(ledger, clock), machine, times, clock);
            ReconcileLoop.FirstFullPassAction ports = () -> {
                reported.incrementAndGet();
                if (!bridgeAnswers) {
                    throw new IOException("no bridge");
                }
            };
            try (ReconcileLoop loop = new ReconcileLoop(round, ports, Duration.ofSeconds(60), clock)) {
                assertThat(loop.last()).isEmpty();
                loop.start((outcome, took) -> outcomes.add(outcome));
                scenario.report(loop);
            }
        }
    }

    @Test
    void what_was_due_long_ago_and_does_not_go_is_tried_less_and_less_often() throws Exception {
        machine.stuck = true;
        try (VmLedger ledger = VmLedger.open(folder.resolve("ledger"))) {
            ledger.claim(VmLedgerEntry.claim(VmPlanSamples.OWNER, false, 1));
            ledger.recordEnd(VmPlanSamples.OWNER.uuid(), new VmTermination(VmTermination.Why.ASKED, "", 1));
        }
        play(loop -> {
            long begin = System.nanoTime();
            for (int i = 0; i < 3; i++) {
                assertThat(next().problems()).singleElement().asString().contains("it does not go");
            }
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofMillis(1400));
        });
    }

    private Outcome next() throws InterruptedException {
        return outcomes.take();
    }

    @Test
    void a_round_begins_at_once_and_whenever_there_is_something_to_see() throws Exception {
        play(loop -> {
            Outcome first = next();
            assertThat(first.isClean()).isTrue();
            assertThat(outcomes.poll(1, TimeUnit.SECONDS)).as("nobody rang").isNull();
            loop.wake();
            next();
            loop.onHypervisorEvent(new HypervisorEvent.DomainEnded("0b7c3f5e-9f8a-4a53-8d0e-6a3b9a1d2c4f", true));
            next();
            loop.onHypervisorEvent(new HypervisorEvent.ConnectionLost("gone"));
            assertThat(outcomes.poll(1, TimeUnit.SECONDS)).as("nothing to see").isNull();
            loop.onHypervisorEvent(new HypervisorEvent.ConnectionRestored());
            assertThat(next().isClean()).isTrue();
            assertThat(loop.last()).isPresent();
            assertThat(reported).hasValue(4);
        });
    }

    @Test
    void many_rings_make_few_rounds() throws Exception {
        play(loop -> {
            next();
            for (int i = 0; i < 10_000; i++) {
                loop.wake();
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
        play(loop -> {
            assertThat(next().neverAnswered()).hasSize(ResourceKind.values().length);
            assertThat(next().isClean()).isFalse();
            assertThat(reported).hasValue(0);
            machine.answers = true;
            Outcome outcome = next();
            while (!outcome.isClean()) {
                outcome = next();
            }
            assertThat(reported).hasValue(1);
        });
    }

    @Test
    void a_trouble_is_tried_again_by_itself_and_is_said() throws Exception {
        bridgeAnswers = false;
        play(loop -> {
            assertThat(next().problems()).containsExactly("no bridge");
            assertThat(next().isClean()).isFalse();
            bridgeAnswers = true;
            assertThat(next().isClean()).isTrue();
        });
    }

    @Test
    void a_fault_in_one_round_is_not_the_last_of_it() throws Exception {
        machine.faulty = true;
        play(loop -> {
            Outcome faulty = next();
            assertThat(faulty.problems()).singleElement().asString().contains("internal error of agent-host");
            assertThat(loop.last()).isPresent();
            machine.faulty = false;
            Outcome outcome = next();
            while (!outcome.isClean()) {
                outcome = next();
            }
        });
    }
}
