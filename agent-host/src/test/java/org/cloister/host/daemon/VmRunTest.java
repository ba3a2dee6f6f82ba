package org.cloister.host.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.cloister.host.control.VmRunListener;
import org.cloister.host.control.VmRunPhase;
import org.cloister.host.control.VmRunResult;
import org.cloister.host.health.DrainReason;
import org.cloister.host.health.NodeHealth;
import org.cloister.host.health.NodeHealthMonitor;
import org.cloister.host.health.SlurmNodeState;
import org.cloister.host.metrics.HostMetrics;
import org.cloister.host.reconcile.ResourceOwners;
import org.cloister.host.reconcile.VmLedger;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.reconcile.VmTermination.Why;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@SuppressWarnings("NullAway") // no VM is created here
class VmRunTest {
    private static final ResourceOwner OWNER = ResourceOwners.owner(1);

    @TempDir
    private Path folder;

    private final List<VmRunPhase> phases = new ArrayList<>();
    private final List<VmRunResult> results = new ArrayList<>();
    private VmLedger ledger;
    private VmRuns runs;
    private VmRun run;

    @BeforeEach
    void open() throws IOException {
        ledger = VmLedger.open(folder.resolve("ledger"));
        HostMetrics metrics = new HostMetrics(ledger::entries, Duration.ofSeconds(60), () -> Instant.EPOCH);
        VmTerminator terminator = new VmTerminator(ledger, metrics, () -> {}, owner -> {}, () -> Instant.EPOCH);
        NodeHealthMonitor health = new NodeHealthMonitor(
                new NodeHealth(NodeHealth.Delays.DEFAULT),
                () -> new SlurmNodeState(Set.of("idle"), "none"),
                new UnusedNodeCommands(),
                List::of,
                () -> Instant.EPOCH,
                Duration.ofSeconds(1));
        runs = new VmRuns(null, ledger, terminator, health, (ticket, code, phase) -> {}, () -> Instant.EPOCH);
        run = new VmRun(runs, health, new RecordingListener(), VmRunPhase.JOB);
    }

    @AfterEach
    void close() throws IOException {
        runs.close();
        ledger.close();
    }

    @Test
    void one_that_is_stopped_first_gets_no_vm() {
        run.stop();
        assertThat(run.register(OWNER)).isFalse();
        assertThat(run.vm()).isNull();
        assertThat(results)
                .containsExactly(
                        new VmRunResult(VmRunCode.STOPPED, VmRunPhase.JOB, "the VM was stopped before its start", ""));
    }

    @Test
    void a_stop_before_the_ledger_has_the_vm_is_recorded_when_it_has() throws Exception {
        assertThat(run.register(OWNER)).isTrue();
        run.stop();
        ledger.claim(VmLedgerEntry.claim(OWNER, false, 1));
        assertThat(ledger.entry(OWNER.uuid()).flatMap(VmLedgerEntry::end)).isEmpty();
        run.onClaimed();
        assertThat(ledger.entry(OWNER.uuid()).flatMap(VmLedgerEntry::end))
                .hasValueSatisfying(end -> assertThat(end.why()).isEqualTo(Why.ASKED));
        assertThat(results).isEmpty();
    }

    @Test
    void a_stop_ends_the_wait_for_a_drive() throws Exception {
        assertThat(run.leaseWait().pause(Duration.ofMillis(1))).isTrue();
        run.stop();
        assertThat(run.leaseWait().pause(Duration.ofMinutes(1))).isFalse();
    }

    @Test
    void a_result_is_reported_once_after_the_last_phase() {
        run.register(OWNER);
        run.enterPhase(VmRunPhase.TICKET);
        run.onRemoved(new VmTermination(Why.ASKED, "", 5));
        run.onRefused(new StartFailed(VmRunCode.HOST, "too late", ""));
        assertThat(phases).containsExactly(VmRunPhase.TICKET, VmRunPhase.GONE);
        assertThat(results)
                .singleElement()
                .satisfies(how -> assertThat(how.code()).isEqualTo(VmRunCode.STOPPED));
    }

    private final class RecordingListener implements VmRunListener {
        @Override
        public void onPhase(VmRunPhase phase, Duration took) {
            phases.add(phase);
        }

        @Override
        public void onResult(VmRunResult how) {
            results.add(how);
        }
    }

    private static final class UnusedNodeCommands implements NodeHealthMonitor.SlurmNodeCommands {
        @Override
        public void drain(DrainReason reason) {
            throw new UnsupportedOperationException("the monitor is not started");
        }

        @Override
        public void resume(DrainReason reason) {
            throw new UnsupportedOperationException("the monitor is not started");
        }

        @Override
        public void replaceReason(DrainReason reason) {
            throw new UnsupportedOperationException("the monitor is not started");
        }
    }
}
