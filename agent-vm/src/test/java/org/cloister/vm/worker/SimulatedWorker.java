package org.cloister.vm.worker;

import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Consumer;
import org.cloister.protocol.handover.VmAssignment;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.vm.boot.AgentVmStatusFile;
import org.cloister.vm.boot.BootJournal;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.metrics.VmMetrics;
import org.cloister.vm.worker.state.WorkerStateMachine;
import org.cloister.vm.worker.steps.AcceptedHandover;
import org.cloister.vm.worker.steps.NodeSetup;
import org.cloister.vm.worker.steps.SetupStep;

/** A worker as it is, whose machine does nothing but say what it would do: for tests that have its host. */
public final class SimulatedWorker implements NodeSetup {
    /** What it says when its VM goes off. */
    public static final String OFF = "off";

    private final Consumer<String> log;

    private SimulatedWorker(Consumer<String> log) {
        this.log = log;
    }

    /**
     * As {@link WorkerRole} does it.
     *
     * @param log hears of each step that is done
     */
    public static WorkerVm start(
            VmAssignment assignment,
            BootKeyPairs keys,
            TrustStore trustStore,
            BootJournal journal,
            AgentVmStatusFile status,
            VmMetrics metrics,
            Consumer<String> log)
            throws IOException {
        InstantSource clock = InstantSource.system();
        return new WorkerVm(
                WorkerIdentity.create(assignment, keys, trustStore, clock, new SecureRandom()),
                WorkerStateMachine.create(Duration.ofSeconds(1), System.nanoTime()),
                new SimulatedWorker(log),
                journal,
                new WorkerVm.Environment(status, metrics, clock, System::nanoTime));
    }

    @Override
    public void apply(SetupStep step, AcceptedHandover handover) {
        log.accept(step.toString());
    }

    @Override
    public void applyReadmission(AcceptedHandover handover, boolean opened) {
        log.accept("readmitted");
    }

    @Override
    public void undo(SetupStep step, boolean failed) {
        log.accept("not " + step);
    }

    @Override
    public Optional<Instant> scratchErasedAt() {
        return Optional.of(Instant.now());
    }

    @Override
    public void powerOff() {
        log.accept(OFF);
    }
}
