package org.cloister.host.reconcile;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.host.vm.StartFailed;

/**
 * The daemon's part of it on a {@link FakeHostBackend}: a ledger on disk, and what is in memory while the process
 * lives.
 */
final class SimulatedDaemon {
    static final VmTimeouts TIMES =
            new VmTimeouts(Duration.ofMinutes(5), Duration.ofMinutes(10), Duration.ofSeconds(30));

    private final FakeHostBackend machine;
    private final Path file;
    private final InstantSource clock = () -> Instant.ofEpochMilli(now());
    private long nowMs = 1_700_000_000_000L;
    private VmLedger ledger;
    private VmBuilder building;
    private ReconcilePass runPass;

    SimulatedDaemon(FakeHostBackend machine, Path file) throws IOException {
        this.machine = machine;
        this.file = file;
        this.ledger = VmLedger.open(file);
        this.building = new VmBuilder(ledger, clock);
        this.runPass = new ReconcilePass(ledger, building, machine, TIMES, clock);
    }

    private long now() {
        return nowMs;
    }

    void pass(Duration time) {
        nowMs += time.toMillis();
    }

    void build(ResourceOwner owner, boolean scratch) throws StartFailed, VmBuildFailed, IOException {
        build(owner, scratch, machine.stepRunner(owner));
    }

    void build(ResourceOwner owner, boolean scratch, VmStepRunner stepRunner)
            throws StartFailed, VmBuildFailed, IOException {
        building.build(VmLedgerEntry.claim(owner, scratch, nowMs), stepRunner);
    }

    /** As by somebody who asked before the ledger had it. */
    void buildEnding(ResourceOwner owner) throws StartFailed, VmBuildFailed, IOException {
        building.build(VmLedgerEntry.claim(owner, false, nowMs), machine.stepRunner(owner), () -> {
            try {
                ask(owner);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    void register(ResourceOwner owner) throws IOException {
        ledger.recordStep(owner.uuid(), VmStartStep.REGISTERED);
    }

    void ask(ResourceOwner owner) throws IOException {
        ledger.recordEnd(owner.uuid(), new VmTermination(VmTermination.Why.ASKED, "", nowMs));
    }

    ReconcilePass.Outcome runPass() {
        return runPass.run();
    }

    VmLedger ledger() {
        return ledger;
    }

    List<VmLedgerEntry> entries() {
        return ledger.entries();
    }

    boolean isEnding(ResourceOwner owner) {
        return ledger.entry(owner.uuid()).map(VmLedgerEntry::isEnding).orElse(true);
    }

    /** @param lost whether the ledger goes with the process */
    void restart(SimulatedKill killed, boolean cut, boolean lost) throws IOException {
        ledger.close();
        if (lost) {
            Files.delete(file);
        } else if (cut && killed.isBeforeStep()) {
            truncateLastLine();
        }
        machine.restarted();
        ledger = VmLedger.open(file);
        building = new VmBuilder(ledger, clock);
        runPass = new ReconcilePass(ledger, building, machine, TIMES, clock);
    }

    /** The kill came while it was written, and what it tells was not begun. */
    private void truncateLastLine() {
        try {
            byte[] all = Files.readAllBytes(file);
            int from = all.length - 1;
            while (all[from - 1] != '\n') {
                from--;
            }
            int keep = from + (all.length - from) / 2;
            Files.write(file, Arrays.copyOf(all, keep), StandardOpenOption.TRUNCATE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
