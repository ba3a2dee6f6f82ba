package org.cloister.vm.controller;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.cloister.base.mount.MountedFileSystem;
import org.cloister.base.process.ProcessRunner;
import org.cloister.ipsec.EspMode;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.luks.volume.VolumeFormat;
import org.cloister.protocol.handover.VmEndReport;
import org.cloister.vm.controller.daemons.LocalSlurmDaemons;
import org.cloister.vm.controller.daemons.SlurmFilterUnit;
import org.cloister.vm.controller.drive.DriveDisk;
import org.cloister.vm.controller.drive.DriveLayout;
import org.cloister.vm.controller.drive.DrivePlan;
import org.cloister.vm.controller.drive.EndReportFile;
import org.cloister.vm.controller.drive.ProjectDrive;
import org.cloister.vm.controller.storage.NfsServer;
import org.cloister.vm.system.daemon.ChronyDaemon;
import org.cloister.vm.system.daemon.MungeDaemon;
import org.cloister.vm.system.daemon.UnitControl;
import org.cloister.vm.system.mount.MountHolder;
import org.cloister.vm.system.tunnel.CharonDaemon;
import org.cloister.vm.system.volume.DisksBySerial;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The daemons and the mapped drive that an earlier agent process left in a controlling VM. The keys of that process are
 * lost with it, and two starts share none. Its daemons still write to the drive, so they are stopped in order, and the
 * drive is consistent before the VM ends.
 */
final class OrphanedProject {
    private static final Logger LOG = LoggerFactory.getLogger(OrphanedProject.class);

    private final List<Component> components;

    /** Stops a component, whether it runs or not. */
    interface StopAction {
        void run() throws IOException;
    }

    record Component(String name, StopAction stopAction) {}

    /** @param components in the order in which they are stopped */
    OrphanedProject(List<Component> components) {
        this.components = List.copyOf(components);
    }

    static OrphanedProject of(ProcessRunner programs, UnitControl services, SecretAllocator secrets, Path run) {
        return new OrphanedProject(List.of(
                new Component("filter", () -> SlurmFilterUnit.stop(services)),
                new Component("daemons", () -> {
                    List<String> running = LocalSlurmDaemons.stop(services);
                    if (!running.isEmpty()) {
                        throw new IOException("still running: " + running);
                    }
                }),
                new Component("munged", new MungeDaemon(services, run)::stop),
                new Component("storage", () -> NfsServer.stop(programs)),
                new Component("tunnels", new CharonDaemon(programs, run.resolve("charon"), EspMode.KERNEL)::stop),
                new Component("time", new ChronyDaemon(programs, run.resolve("time"))::stop),
                new Component("end report", () -> recordEnd(programs)),
                new Component("drive", () -> closeDrive(programs, secrets))));
    }

    /** Stops all components; logs failures and continues. */
    void stopAll() {
        for (Component component : components) {
            try {
                component.stopAction.run();
            } catch (IOException | RuntimeException e) {
                LOG.error("{}: cannot be stopped: {}", component.name, e.toString());
            }
        }
    }

    /** Records the end, unless the agent process had recorded it or the drive is not mounted. */
    private static void recordEnd(ProcessRunner programs) throws IOException {
        String device = DrivePlan.MAPPING.path().toString();
        EndReportFile file = new EndReportFile(new DriveLayout(DrivePlan.MOUNT_POINT).agentFolder());
        if (MountedFileSystem.at(programs, DrivePlan.MOUNT_POINT).stream()
                        .anyMatch(mount -> mount.source().equals(device))
                && file.read().isEmpty()) {
            file.write(VmEndReport.of(Instant.now(), "agent-vm ended unexpectedly, and its keys were lost with it"));
        }
    }

    private static void closeDrive(ProcessRunner programs, SecretAllocator secrets) throws IOException {
        DrivePlan plan = new DrivePlan(
                DriveDisk.find(new DisksBySerial(Path.of("/sys/block"))),
                VolumeFormat.labelled("project/left"),
                DrivePlan.MAPPING,
                DrivePlan.MOUNT_POINT);
        List<MountHolder> holders = new ProjectDrive(programs, secrets, Cryptsetup.load(), plan).close();
        if (!holders.isEmpty()) {
            LOG.warn("drive: unmounted while processes had files open: {}", holders);
        }
    }
}
