package org.cloister.vm.controller;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.cloister.base.address.Ipv4Address;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.key.KeyException;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.SealingContext;
import org.cloister.protocol.handover.VmEndReport;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.handover.VmNetworkConfig;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.controller.daemons.SlurmStateRelease;
import org.cloister.vm.controller.drive.DriveDisk;
import org.cloister.vm.controller.drive.DriveLayout;
import org.cloister.vm.controller.drive.DriveOpenRefused;
import org.cloister.vm.controller.drive.DrivePlan;
import org.cloister.vm.controller.drive.EndReportFile;
import org.cloister.vm.controller.drive.ProjectDrive;
import org.cloister.vm.controller.slurm.LocalSlurmConf;
import org.cloister.vm.controller.unlock.ProjectConfigStore;
import org.cloister.vm.controller.unlock.ProjectDocuments;
import org.cloister.vm.controller.unlock.ProjectDocumentsFolder;
import org.cloister.vm.controller.unlock.UnlockRefusal;
import org.cloister.vm.controller.unlock.UnlockRefused;
import org.cloister.vm.controller.unlock.VerifiedUnlock;
import org.cloister.vm.system.SystemClock;
import org.cloister.vm.system.daemon.DaemonAccount;
import org.cloister.vm.system.network.NetworkPlan;
import org.cloister.vm.system.network.ProjectInterface;
import org.cloister.vm.system.volume.DisksBySerial;
import org.cloister.vm.worker.scratch.UnencryptedSwap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An opened project: the clock, the network interface and the mounted drive that a controlling VM has after the unlock.
 */
final class OpenedProject implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(OpenedProject.class);
    private static final Duration LOGGED_DIFFERENCE = Duration.ofSeconds(2);

    private final ControllerEnvironment environment;
    private final VerifiedUnlock unlocked;
    private final ProjectDrive drive;
    private final DriveLayout layout = new DriveLayout(DrivePlan.MOUNT_POINT);
    private final NetworkPlan network;
    private final ProjectInterface networkInterface;
    private final EndReportFile endReport = new EndReportFile(layout.agentFolder());
    private Optional<VmEndReport> lastEnd = Optional.empty();
    private Optional<ProjectConfigStore.ProjectConfig> projectConfig = Optional.empty();

    private OpenedProject(ControllerEnvironment environment, VerifiedUnlock unlocked, ProjectDrive drive) {
        this.environment = environment;
        this.unlocked = unlocked;
        this.drive = drive;
        this.networkInterface = new ProjectInterface(environment.programs());
        this.network = network(unlocked.networkConfig(), environment);
    }

    /** The opened project, and what its opener is to learn about the drive. */
    record OpenResult(OpenedProject project, VmMessage.Opened opened) {}

    /**
     * Opens the project.
     *
     * @throws UnlockRefused if a step failed; completed steps are undone, and the VM must end
     */
    static OpenResult open(ControllerEnvironment environment, BootKeyPairs keys, VerifiedUnlock unlocked)
            throws UnlockRefused {
        try (SecretMemory key = key(environment, keys, unlocked)) {
            requireEncryptedSwap(environment);
            ProjectDrive drive = drive(environment, unlocked);
            OpenedProject project = new OpenedProject(environment, unlocked, drive);
            boolean done = false;
            try {
                project.setClock();
                project.networkInterface.up(project.network);
                ProjectDrive.OpenResult opened = drive.open(key, unlocked.epoch(), unlocked.create());
                project.prepareDrive();
                project.lastEnd = opened.created() ? Optional.empty() : project.endReport.read();
                done = true;
                return new OpenResult(
                        project, new VmMessage.Opened(opened.previousEpoch(), opened.created(), project.lastEnd));
            } finally {
                if (!done) {
                    project.close();
                }
            }
        } catch (UnlockRefused e) {
            throw e;
        } catch (DriveOpenRefused e) {
            throw new UnlockRefused(BootPhase.DRIVE, e.reason().toString(), e);
        } catch (IOException e) {
            throw new UnlockRefused(UnlockRefusal.CONTROLLER, e);
        }
    }

    private static void requireEncryptedSwap(ControllerEnvironment environment) throws UnlockRefused {
        try {
            UnencryptedSwap.requireNone(environment.programs(), List.of());
        } catch (IOException e) {
            throw new UnlockRefused(UnlockRefusal.CLEAR_SWAP, e);
        }
    }

    DriveLayout layout() {
        return layout;
    }

    NetworkPlan network() {
        return network;
    }

    ProjectInterface networkInterface() {
        return networkInterface;
    }

    VerifiedUnlock unlocked() {
        return unlocked;
    }

    /** Returns the project's members and settings: those of this unlock, or else those on the drive. */
    ProjectConfigStore.ProjectConfig projectConfig() {
        return projectConfig.orElseThrow();
    }

    /**
     * Returns why the drive is lost to this VM.
     *
     * @return why this VM may no longer write to the drive; empty if it may
     */
    Optional<String> driveLostReason() {
        try {
            OptionalLong epoch = drive.epoch();
            return epoch.isPresent() && epoch.getAsLong() == unlocked.epoch()
                    ? Optional.empty()
                    : Optional.of("drive: want epoch " + unlocked.epoch() + ", have "
                            + (epoch.isPresent() ? epoch.getAsLong() : "none")
                            + "; another VM was given the drive");
        } catch (IOException e) {
            // An unreadable header does not show another writer; storage that does not respond is the host's to handle.
            LOG.warn("drive: its header cannot be read: {}; retrying", e.getMessage());
            return Optional.empty();
        }
    }

    /** Records on the drive why this VM ends itself, for the next opener. */
    void recordEnd(String why) {
        endReport.write(VmEndReport.of(Instant.now(), why));
    }

    /** Deletes the report of the VM before this one: its opener has shown it. */
    void deleteLastEnd() {
        lastEnd.ifPresent(endReport::delete);
    }

    /** Closes the drive, then the network interface. */
    @Override
    public void close() {
        ResourceStack resources = new ResourceStack();
        resources.push(() -> networkInterface.down(network));
        resources.push(() -> {
            var holders = drive.close();
            if (!holders.isEmpty()) {
                LOG.warn("drive: unmounted while processes had files open: {}", holders);
            }
        });
        resources.close();
    }

    private void prepareDrive() throws IOException {
        try {
            setUpDrive();
        } catch (UnlockRefused | DriveOpenRefused e) {
            // The opener receives the reason's own word.
            throw e;
        } catch (IOException e) {
            recordEnd("the drive cannot be prepared: " + e.getMessage());
            throw e;
        }
    }

    private void setUpDrive() throws IOException {
        Path passwd = environment.etc().resolve("passwd");
        DaemonAccount database = DaemonAccount.of(passwd, "mysql");
        DaemonAccount controller = DaemonAccount.of(passwd, LocalSlurmConf.ACCOUNT);
        // The database and slurmctld may use blocks that members cannot fill: without space they would not start, and
        // no member could log in to free some.
        environment
                .programs()
                .runChecked(
                        "mount",
                        "-o",
                        "remount,resuid=" + controller.uid() + ",resgid=" + database.gid(),
                        layout.root().toString());
        SlurmStateRelease release = SlurmStateRelease.of(environment.programs(), layout);
        release.require();
        layout.createFolders(0, database, controller);
        release.write();
        ProjectDocumentsFolder folder =
                new ProjectDocumentsFolder(layout.agentFolder().resolve("papers"));
        Optional<ProjectDocuments> stored = folder.read();
        if (stored.isPresent()) {
            unlocked.documents().requireSuccessorOf(stored.get(), unlocked.time());
        }
        projectConfig = Optional.of(new ProjectConfigStore(layout.projectConfigFolder()).update(unlocked.files()));
        folder.write(unlocked.documents());
    }

    /** Sets the clock to the opener's time, since the VM's own clock comes from its host. */
    private void setClock() throws IOException {
        Duration difference = new SystemClock(environment.programs(), InstantSource.system()).set(unlocked.time());
        if (difference.compareTo(LOGGED_DIFFERENCE) > 0) {
            LOG.warn("clock: was {} s from the opener's and is set; check the host's clock", difference.toSeconds());
        }
    }

    private static ProjectDrive drive(ControllerEnvironment environment, VerifiedUnlock unlocked) throws IOException {
        Path disk = DriveDisk.find(new DisksBySerial(Path.of("/sys/block")));
        String project = unlocked.documents().history().id();
        return new ProjectDrive(
                environment.programs(),
                environment.crypto().secrets(),
                environment.cryptsetup(),
                DrivePlan.of(disk, project));
    }

    private static SecretMemory key(ControllerEnvironment environment, BootKeyPairs keys, VerifiedUnlock unlocked)
            throws UnlockRefused {
        byte[] info = SealingContext.unlock(unlocked.documents().history().id(), unlocked.target(), unlocked.epoch());
        byte[] sealed = unlocked.driveKey().bytes().toByteArray();
        try {
            return new Hpke(environment.crypto()).open(keys.sealing(), info, new byte[0], sealed);
        } catch (KeyException e) {
            throw new UnlockRefused(UnlockRefusal.KEY, e);
        } catch (IOException e) {
            throw new UnlockRefused(UnlockRefusal.CONTROLLER, e);
        }
    }

    private static NetworkPlan network(VmNetworkConfig config, ControllerEnvironment environment) {
        Ipv4Address own = new Ipv4Address(config.address().toString());
        return new NetworkPlan(
                config.mac().toString(),
                own,
                config.network().prefix(),
                config.mtu(),
                own,
                List.of(),
                environment.esp());
    }
}
