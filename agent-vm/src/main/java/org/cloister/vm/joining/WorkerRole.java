package org.cloister.vm.joining;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import org.cloister.ipsec.Esp;
import org.cloister.luks.secret.Secrets;
import org.cloister.protocol.handover.Assignment;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.vm.VmMetrics;
import org.cloister.vm.boot.Begun;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.boot.BootPhase;
import org.cloister.vm.boot.BootStatus;
import org.cloister.vm.machine.Programs;
import org.cloister.vm.machine.SystemdServices;
import org.cloister.vm.volume.Volumes;

/** What a VM needs to be a worker, put together. */
public final class WorkerRole {
    private final Secrets secrets;
    private final Path run;
    private final Begun begun;
    private final BootStatus status;
    private final Volumes volumes;
    private final VmMetrics metrics;

    /** @param run a folder on tmpfs */
    public WorkerRole(Secrets secrets, Path run, Begun begun, BootStatus status, Volumes volumes, VmMetrics metrics) {
        this.secrets = secrets;
        this.run = run;
        this.begun = begun;
        this.status = status;
        this.volumes = volumes;
        this.metrics = metrics;
    }

    /** Undoes what an agent before this one has left of a worker. */
    public void endOrphan(BootKeyPairs keys) {
        new Orphan(begun, machine(keys)).end();
    }

    /** @throws IOException if this VM can make no certificate for its name */
    public Worker begin(Assignment assignment, BootKeyPairs keys, Beliefs beliefs) throws IOException {
        double seconds = status.reached(BootPhase.ASSIGNED);
        InstantSource clock = InstantSource.system();
        WorkerLife life = WorkerLife.begin(assignment, keys, beliefs, clock, new SecureRandom());
        Duration boot = Duration.ofMillis((long) (seconds * 1000));
        return new Worker(
                life,
                Course.assigned(boot, System.nanoTime()),
                machine(keys),
                begun,
                new Worker.Reports(status, metrics, clock, System::nanoTime));
    }

    private NodeMachine machine(BootKeyPairs keys) {
        Programs programs = Programs.ofThisMachine();
        return new NodeMachine(
                new NodeMachine.Base(
                        programs,
                        new SystemdServices(programs, Path.of("/run/systemd/system")),
                        secrets,
                        volumes,
                        InstantSource.system(),
                        Esp.KERNEL,
                        run,
                        Path.of("/etc"),
                        Path.of("/sys/block")),
                keys,
                begun);
    }
}
