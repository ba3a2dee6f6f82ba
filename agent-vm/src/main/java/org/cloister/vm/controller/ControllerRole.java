package org.cloister.vm.controller;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.base.process.ProcessRunner;
import org.cloister.ipsec.EspMode;
import org.cloister.luks.key.LibCryptoCalls;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.protocol.handover.VmAssignment;
import org.cloister.vm.boot.BootJournal;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.boot.VmTrustStore;
import org.cloister.vm.controller.config.MachineSettings;
import org.cloister.vm.system.PowerOff;
import org.cloister.vm.system.daemon.SystemdUnitControl;

/** Starts a VM as its project's controlling VM, with everything that this role needs. */
public final class ControllerRole {
    private static final Path ETC = Path.of("/etc");
    private static final Path CONFIG = ETC.resolve("cloister/controller.toml");

    private final SecretAllocator secrets;
    private final Path run;
    private final BootJournal journal;
    private final ControllerStatusFiles statusFiles;
    private final ControllerMetrics metrics;

    /** @param run folder on tmpfs */
    public ControllerRole(
            SecretAllocator secrets,
            Path run,
            BootJournal journal,
            ControllerStatusFiles statusFiles,
            ControllerMetrics metrics) {
        this.secrets = secrets;
        this.run = run;
        this.journal = journal;
        this.statusFiles = statusFiles;
        this.metrics = metrics;
    }

    /**
     * Starts the controlling VM.
     *
     * @throws IOException if this VM lacks what the role needs, or cannot make a boot certificate for its name
     */
    public ControllingVm start(VmAssignment assignment, BootKeyPairs keys, VmTrustStore trustStore) throws IOException {
        ProcessRunner programs = ProcessRunner.local();
        PowerOff off = new PowerOff(programs);
        VmShutdown shutdown = new VmShutdown(why -> off.request(), why -> off.forceNow());
        return new ControllingVm(assignment, keys, trustStore, environment(programs), statusFiles, journal, shutdown);
    }

    /** Stops and closes what an earlier agent process left, whose keys are lost. */
    public void cleanUpOrphan() {
        ProcessRunner programs = ProcessRunner.local();
        OrphanedProject.of(programs, services(programs), secrets, run).stopAll();
    }

    private ControllerEnvironment environment(ProcessRunner programs) throws IOException {
        return new ControllerEnvironment(
                programs,
                LibCryptoCalls.load(secrets),
                Cryptsetup.load(),
                services(programs),
                MachineSettings.load(CONFIG),
                metrics,
                run,
                ETC,
                EspMode.KERNEL);
    }

    private static SystemdUnitControl services(ProcessRunner programs) {
        return new SystemdUnitControl(programs, Path.of("/run/systemd/system"));
    }
}
