package org.cloister.host.receipts;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.cloister.host.reconcile.HostBackend;
import org.cloister.host.reconcile.ObservedState;
import org.cloister.host.reconcile.ReconcileAction;
import org.cloister.host.reconcile.ResourceKind;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.scratch.ErasureMethod;
import org.cloister.host.scratch.ScratchFileErasure;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.receipt.HostStatement;
import org.cloister.protocol.receipt.ScratchDisposal;
import org.cloister.protocol.receipt.VmEndReason;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The daemon is killed before and after each write of a VM's whole life, and again at each write of what follows. */
class HostStatementsKilledTest {
    private static final ResourceOwner OWNER = HostStatementSamples.OWNER;

    @TempDir
    private Path folder;

    /** State that outlives the daemon: ledger, scratch file and the relay's database. */
    private static final class Surviving implements HostBackend {
        private Optional<VmLedgerEntry> entry = Optional.of(VmLedgerEntry.claim(OWNER, true, 0));
        private VmStartStep step = VmStartStep.MOVED;
        private long scratch = 1 << 20;
        private boolean unlinked;
        private byte @Nullable [] reported;
        private @Nullable HostStatements parts;
        private Instant now = HostStatementSamples.NOW;

        HostStatements parts() {
            return Objects.requireNonNull(parts);
        }

        void end(VmTermination.Why why) {
            if (entry.isPresent() && entry.get().end().isEmpty()) {
                entry = Optional.of(HostStatementSamples.entry(OWNER, step, why));
            }
        }

        @Override
        public void remove(ResourceOwner owner, ResourceKind part) throws IOException {
            if (part == ResourceKind.SCRATCH && !unlinked) {
                long bytes = scratch;
                scratch = 0;
                parts().onErased(new ScratchFileErasure(owner, ErasureMethod.OVERWRITE, bytes, bytes));
                unlinked = true;
            }
        }

        CompletableFuture<Void> report(String ticket, int slot, byte[] statement) {
            if (reported != null) {
                assertThat(statement).isEqualTo(reported);
            }
            reported = statement.clone();
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public ObservedState observe() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void resume(ResourceOwner owner) {}

        @Override
        public void restorePort(ResourceOwner owner) {}

        @Override
        public void requestPowerOff(ResourceOwner owner) {}
    }

    private KilledVmHistoryStore start(Surviving fixture, int point) throws IOException {
        KilledVmHistoryStore histories = new KilledVmHistoryStore(new VmHistoryFolder(folder), point);
        fixture.parts = new HostStatements(histories, HostStatementSamples.KEY, () -> fixture.now);
        return histories;
    }

    private static void up(Surviving fixture) throws IOException {
        fixture.parts().recordStart(OWNER, HostStatementSamples.facts(OWNER, 1), HostStatementSamples.TICKET);
        fixture.step = VmStartStep.RUNNING;
    }

    /** What a host does of itself, from wherever it was. */
    private static void down(Surviving fixture) throws IOException {
        fixture.now = fixture.now.plusSeconds(10);
        fixture.end(fixture.step == VmStartStep.RUNNING ? VmTermination.Why.ASKED : VmTermination.Why.INTERRUPTED);
        HostStatements parts = fixture.parts();
        StatementRecordingBackend machine = new StatementRecordingBackend(fixture, parts, uuid -> fixture.entry);
        if (fixture.entry.isPresent()) {
            machine.remove(OWNER, ResourceKind.DOMAIN);
            machine.remove(OWNER, ResourceKind.SCRATCH);
        }
        List<ReconcileAction> done = fixture.entry
                .<List<ReconcileAction>>map(entry ->
                        List.of(new ReconcileAction.ForgetVm(OWNER, new VmTermination(VmTermination.Why.ASKED, "", 1))))
                .orElse(List.of());
        fixture.entry = Optional.empty();
        parts.onPass(done, true, List::of);
        StatementReporter reporting = new StatementReporter(parts, fixture::report, () -> fixture.now);
        reporting.poll();
        reporting.poll();
    }

    /** @return points that it has after the first death */
    private int live(int first, int second) throws IOException {
        Surviving fixture = new Surviving();
        KilledVmHistoryStore histories = start(fixture, first);
        try {
            up(fixture);
            down(fixture);
        } catch (KilledVmHistoryStore.SimulatedKill e) {
            histories = start(fixture, second);
            try {
                down(fixture);
            } catch (KilledVmHistoryStore.SimulatedKill again) {
                start(fixture, 0);
                down(fixture);
            }
        }
        check(fixture);
        return histories.passed();
    }

    private void check(Surviving fixture) throws IOException {
        try (var files = Files.list(folder)) {
            assertThat(files).isEmpty();
        }
        byte[] reported = fixture.reported;
        if (fixture.step != VmStartStep.RUNNING) {
            assertThat(reported).isNull();
            return;
        }
        HostStatement part = HostStatementSamples.part(Objects.requireNonNull(reported));
        assertThat(part.facts()).isEqualTo(HostStatementSamples.facts(OWNER, 1));
        assertThat(part.digest()).isEqualTo(HostStatementSamples.TICKET);
        assertThat(part.started()).isEqualTo(HostStatementSamples.NOW);
        assertThat(part.end()).isEqualTo(VmEndReason.STOPPED);
        assertThat(part.ended()).isAfter(part.started());
        assertThat(part.scratch()).isPresent().get().isNotEqualTo(ScratchDisposal.NONE);
        assertThat(part.removed().orElseThrow()).isAfterOrEqualTo(part.ended());
    }

    @Test
    void a_part_is_signed_once_and_reported_wherever_the_daemon_is_killed() throws IOException {
        int points = live(0, 0);
        assertThat(points).isEqualTo(10);
        int seconds = 0;
        for (int first = 1; first <= points; first++) {
            int after = live(first, 0);
            for (int second = 1; second <= after; second++) {
                live(first, second);
                seconds++;
            }
        }
        assertThat(seconds).isGreaterThan(points);
    }
}
