package org.cloister.vm.worker;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import org.cloister.base.process.ProcessRunner;
import org.cloister.ipsec.EspMode;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.protocol.handover.VmAssignment;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.vm.boot.AgentVmPhase;
import org.cloister.vm.boot.AgentVmStatusFile;
import org.cloister.vm.boot.BootJournal;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.system.daemon.SystemdUnitControl;
import org.cloister.vm.system.volume.VolumeStatusFile;
import org.cloister.vm.worker.state.WorkerStateMachine;
import org.cloister.vm.worker.steps.LocalNodeSetup;
import org.cloister.vm.worker.steps.OrphanedWorker;

/** Puts together what a VM needs to be a worker, and starts it. */
public final class WorkerRole {
    private final SecretAllocator secrets;
    private final Path run;
    private final BootJournal journal;
    private final AgentVmStatusFile status;
    private final VolumeStatusFile volumes;
    private final WorkerMetrics metrics;

    /**
     * Creates the role.
     *
     * @param run a folder on tmpfs
     */
    public WorkerRole(
            SecretAllocator secrets,
            Path run,
            BootJournal journal,
            AgentVmStatusFile status,
            VolumeStatusFile volumes,
            WorkerMetrics metrics) {
        this.secrets = secrets;
        this.run = run;
        this.journal = journal;
        this.status = status;
        this.volumes = volumes;
        this.metrics = metrics;
    }

    /** Undoes what an earlier agent left of a worker. */
    public void cleanUpOrphan(BootKeyPairs keys) {
        new OrphanedWorker(journal, nodeSetup(keys)).cleanUp();
    }

    /**
     * Starts the worker.
     *
     * @throws IOException if this VM can make no certificate for its name
     */
    public WorkerVm start(VmAssignment assignment, BootKeyPairs keys, TrustStore trustStore) throws IOException {
        double seconds = status.writePhase(AgentVmPhase.ASSIGNED);
        InstantSource clock = InstantSource.system();
        WorkerIdentity identity = WorkerIdentity.create(assignment, keys, trustStore, clock, new SecureRandom());
        Duration boot = Duration.ofMillis((long) (seconds * 1000));
        return new WorkerVm(
                identity,
                WorkerStateMachine.create(boot, System.nanoTime()),
                nodeSetup(keys),
                journal,
                new WorkerVm.Environment(status, metrics, clock, System::nanoTime));
    }

    private LocalNodeSetup nodeSetup(BootKeyPairs keys) {
        ProcessRunner programs = ProcessRunner.local();
        return new LocalNodeSetup(
                new LocalNodeSetup.Environment(
                        programs,
                        new SystemdUnitControl(programs, Path.of("/run/systemd/system")),
                        secrets,
                        volumes,
                        InstantSource.system(),
                        EspMode.KERNEL,
                        run,
                        Path.of("/etc"),
                        Path.of("/sys/block")),
                keys,
                journal);
    }
}
