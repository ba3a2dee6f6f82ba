package org.cloister.vm.worker.steps;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.cloister.base.process.ProcessRunner;
import org.cloister.ipsec.EspMode;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.protocol.handover.LoginRules;
import org.cloister.protocol.identity.IkeTrustAnchors;
import org.cloister.vm.boot.BootJournal;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.controller.storage.NfsServer;
import org.cloister.vm.system.JobProcesses;
import org.cloister.vm.system.PowerOff;
import org.cloister.vm.system.SystemClock;
import org.cloister.vm.system.daemon.ChronyDaemon;
import org.cloister.vm.system.daemon.DaemonAccount;
import org.cloister.vm.system.daemon.MungeDaemon;
import org.cloister.vm.system.daemon.UnitControl;
import org.cloister.vm.system.mount.MountHolder;
import org.cloister.vm.system.mount.MountedFileSystem;
import org.cloister.vm.system.mount.Unmounter;
import org.cloister.vm.system.names.MachineNames;
import org.cloister.vm.system.network.OutboundTcpDropTable;
import org.cloister.vm.system.network.ProjectInterface;
import org.cloister.vm.system.tunnel.CharonDaemon;
import org.cloister.vm.system.tunnel.ProjectTunnels;
import org.cloister.vm.system.users.PasswdFiles;
import org.cloister.vm.system.volume.DisksBySerial;
import org.cloister.vm.system.volume.VolumeName;
import org.cloister.vm.system.volume.VolumeStatusFile;
import org.cloister.vm.worker.scratch.ScratchPlan;
import org.cloister.vm.worker.scratch.ScratchVolume;
import org.cloister.vm.worker.scratch.ScratchVolumeErasure;
import org.cloister.vm.worker.scratch.UnencryptedSwap;
import org.cloister.vm.worker.storage.StorageMounts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies and undoes setup steps on a worker's machine. Records each step in the boot journal before starting it, and
 * undoes it from the machine's state and that record.
 */
public final class LocalNodeSetup implements NodeSetup {
    private static final Logger LOG = LoggerFactory.getLogger(LocalNodeSetup.class);
    static final String SLURMD = "slurmd.service";
    private static final String NFS = "nfs4";
    private static final String TIME = "time";
    private static final String SCRATCH_SERIAL = "scratch";
    private static final int MIB_BITS = 20;
    private static final Duration TUNNEL_LIMIT = Duration.ofMinutes(1);
    /** Longer than for a first tunnel, since a controlling VM that was just opened has much to do. */
    private static final Duration READMISSION_LIMIT = Duration.ofMinutes(3);

    private static final Duration MOUNT_LIMIT = Duration.ofMinutes(1);
    private static final Duration UNMOUNT_PATIENCE = Duration.ofSeconds(3);
    /**
     * Difference of clocks that is logged and, at a readmission, corrected; smaller ones do not disturb certificates
     * and munge.
     */
    private static final Duration WORTH_SAYING = Duration.ofMinutes(2);

    private final Environment base;
    private final BootKeyPairs keys;
    private final BootJournal begun;
    private final MungeDaemon munged;
    private Optional<Instant> erased = Optional.empty();
    private @Nullable CharonDaemon charon;
    private @Nullable ProjectTunnels tunnels;
    private @Nullable SecretMemory tunnelKey;
    private @Nullable IkeTrustAnchors anchors;
    private boolean munging;
    private boolean scratched;
    /** Set if the storage did not respond when it was to be unmounted. */
    private boolean storageDead;

    /**
     * Programs, services and folders of the machine.
     *
     * @param run a folder on tmpfs
     * @param etc {@code /etc}
     * @param blocks {@code /sys/block}
     */
    public record Environment(
            ProcessRunner programs,
            UnitControl services,
            SecretAllocator secrets,
            VolumeStatusFile volumes,
            InstantSource clock,
            EspMode by,
            Path run,
            Path etc,
            Path blocks) {}

    public LocalNodeSetup(Environment base, BootKeyPairs keys, BootJournal begun) {
        this.base = base;
        this.keys = keys;
        this.begun = begun;
        this.munged = new MungeDaemon(base.services, base.run);
    }

    @Override
    public void apply(SetupStep step, AcceptedHandover given) throws IOException {
        NodePlan node = new NodePlan(given.handOver(), base.by);
        begun.recordStep(step.toString(), note(step, node, given));
        switch (step) {
            // Nothing is encrypted yet, so swap of any kind is in clear.
            case MEMORY -> UnencryptedSwap.requireNone(base.programs, List.of());
            case CLOCK -> clock(given.handOver().time());
            case NETWORK -> new ProjectInterface(base.programs).up(node.networkPlan());
            case TUNNEL -> tunnel(node, given);
            case TIME -> time(node);
            case SCRATCH -> scratch(node);
            case STORAGE ->
                new StorageMounts(base.programs, node.controllerAddress(), node.mounts()).mount(MOUNT_LIMIT);
            case NAMES -> new MachineNames(base.programs, base.etc).write(node.names());
            case USERS -> new PasswdFiles(base.etc, node.homes()).write(node.members());
            case MUNGE -> munge(given);
            case SLURMD -> slurmd(node);
            default -> throw new IllegalArgumentException("step: " + step);
        }
    }

    /** Returns what undoing the step needs, also for a later agent process. */
    private static String note(SetupStep step, NodePlan node, AcceptedHandover given) {
        return switch (step) {
            case NETWORK -> node.networkPlan().mac();
            case STORAGE ->
                node.label() + " "
                        + given.handOver().accounts().jobUser().home().text();
            default -> "";
        };
    }

    /**
     * Sets the clock: times before this step were compared with this VM's clock, later ones with the controlling VM's.
     */
    private void clock(Instant time) throws IOException {
        Duration apart = new SystemClock(base.programs, base.clock).set(time);
        if (apart.compareTo(WORTH_SAYING) > 0) {
            LOG.warn("clock: was {} s from the controlling VM's; look at the host's", apart.toSeconds());
        }
    }

    private void tunnel(NodePlan node, AcceptedHandover given) throws IOException {
        charon = charon();
        charon.start();
        tunnelKey = keys.signing(base.secrets);
        anchors = IkeTrustAnchors.create(node.project(), base.clock.instant(), new SecureRandom());
        tunnels = ProjectTunnels.open(
                charon.socket(), node.tunnelPlan(given, tunnelKey, anchors), event -> LOG.info("tunnel {}", event));
        tunnels.awaitUp(node.controller(), TUNNEL_LIMIT);
    }

    private void time(NodePlan node) throws IOException {
        ChronyDaemon.client(
                        base.programs,
                        base.run.resolve(TIME),
                        node.ownAddress().toString(),
                        node.controllerAddress().toString())
                .start();
    }

    private CharonDaemon charon() {
        return new CharonDaemon(base.programs, base.run.resolve("charon"), base.by);
    }

    private void scratch(NodePlan node) throws IOException {
        Optional<ScratchVolume> scratch = scratch("worker/" + node.label().replace('-', '.'));
        if (scratch.isPresent()) {
            scratch.get().open();
            scratched = true;
            ScratchPlan plan = scratch.get().plan();
            base.volumes.recordOpened(VolumeName.SCRATCH, Cryptsetup.load(), plan.mapping(), plan.mountPoint());
        }
    }

    /** Returns the scratch volume; empty if this VM's shape has no such disk. */
    private Optional<ScratchVolume> scratch(String label) throws IOException {
        Optional<Path> disk = new DisksBySerial(base.blocks).find(SCRATCH_SERIAL);
        if (disk.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new ScratchVolume(
                base.programs, base.secrets, Cryptsetup.load(), base.clock, ScratchPlan.of(disk.get(), label)));
    }

    private void munge(AcceptedHandover given) throws IOException {
        munging = true;
        munged.start(base.secrets, given.mungeKey(), DaemonAccount.of(base.etc.resolve("passwd"), "munge"));
        given.close();
        // Checks that munged accepts a credential of its own.
        base.programs.runChecked(base.programs.runChecked("munge", "-n"), List.of("unmunge", "-o", "/dev/null"));
    }

    /**
     * Starts slurmd. The start has succeeded when slurmd has its configuration, since only then does slurmd detach from
     * its caller.
     */
    private void slurmd(NodePlan node) throws IOException {
        OptionalLong scratchMib = scratched
                ? OptionalLong.of(Files.getFileStore(Path.of("/scratch")).getTotalSpace() >> MIB_BITS)
                : OptionalLong.empty();
        base.services.start(
                SLURMD,
                SlurmdDropIn.settings(
                        node.slurmdArguments(scratchMib), Runtime.getRuntime().availableProcessors()));
    }

    /**
     * Replaces the tunnels' credentials and the munge key; NFS waits for both by itself, and so do a job's steps.
     * Restarts slurmd, because slurmctld polled its nodes before they were back and would poll them again after 100 s
     * only, whereas it accepts a slurmd that starts at once.
     */
    @Override
    public void applyReadmission(AcceptedHandover given, boolean opened) throws IOException {
        if (Duration.between(base.clock.instant(), given.issuedAt()).abs().compareTo(WORTH_SAYING) > 0) {
            clock(given.issuedAt());
        }
        if (tunnels != null && tunnelKey != null && anchors != null) {
            String controller = given.handOver().controller().id();
            tunnels.migrate(
                    NodePlan.credential(given, tunnelKey),
                    NodePlan.authorities(given, anchors),
                    opened ? Optional.of(controller) : Optional.empty());
            tunnels.awaitUp(controller, READMISSION_LIMIT);
        }
        if (munging && opened) {
            munged.stop();
            munge(given);
            base.services.tryRestart(SLURMD);
        }
    }

    @Override
    public void undo(SetupStep step, boolean failed) throws IOException {
        switch (step) {
            case SLURMD -> {
                if (failed) {
                    silence();
                }
                try {
                    base.services.stop(SLURMD);
                } finally {
                    // They would keep scratch and storage busy.
                    new JobProcesses(LoginRules.LEAST_ID, LoginRules.MOST_ID).killAll();
                }
            }
            case MUNGE -> munged.stop();
            case STORAGE -> unmount(failed);
            case SCRATCH -> eraseScratch();
            case TIME -> ChronyDaemon.stop(base.programs, base.run.resolve(TIME));
            case TUNNEL -> {
                if (tunnels != null) {
                    tunnels.close();
                }
                charon().stop();
                if (tunnelKey != null) {
                    tunnelKey.close();
                }
            }
            case NETWORK -> {
                Optional<String> mac = begun.stepNote(SetupStep.NETWORK.toString());
                if (mac.isPresent()) {
                    new ProjectInterface(base.programs).downWithMac(mac.get());
                }
            }
            // Their changes are in RAM, and of no further use.
            case MEMORY, CLOCK, NAMES, USERS -> {}
            default -> throw new IllegalArgumentException("step: " + step);
        }
    }

    /**
     * Drops outgoing TCP except to the NFS server. A job that is killed here has not ended: only the side that knows
     * that the VM has gone decides what becomes of it. Otherwise the job's steps would report to slurmctld, and srun on
     * other nodes would see them end.
     */
    private void silence() {
        try {
            new OutboundTcpDropTable(NfsServer.PORT).install(base.programs);
        } catch (IOException e) {
            LOG.error("slurmctld may hear of the job's end before that of this VM: {}", e.getMessage());
        }
    }

    /**
     * Unmounts all of the project's storage, including mounts that others made. Does not wait for storage that does not
     * respond: scratch must be erased in the time that the host allows.
     */
    private void unmount(boolean failed) throws IOException {
        Unmounter unmounting = new Unmounter(base.programs, UNMOUNT_PATIENCE);
        List<MountedFileSystem> mounts = new ArrayList<>(MountedFileSystem.list(base.programs).stream()
                .filter(mount -> mount.type().equals(NFS))
                .toList());
        mounts.sort(Comparator.comparing(
                        (MountedFileSystem mount) -> mount.mountPoint().getNameCount())
                .reversed());
        storageDead =
                !mounts.isEmpty() && !unmounting.isResponsive(mounts.get(0).mountPoint());
        if (storageDead) {
            LOG.warn("storage: does not answer; no logs are kept, and what the job has not synced may be lost");
            for (MountedFileSystem mount : mounts) {
                unmounting.abandon(mount.mountPoint());
            }
            return;
        }
        Optional<String> worker = begun.stepNote(SetupStep.STORAGE.toString());
        if (failed && worker.isPresent()) {
            String[] labelAndHome = worker.get().split(" ", 2);
            keepLogs(Path.of(labelAndHome[1]), labelAndHome[0]);
        }
        for (MountedFileSystem mount : mounts) {
            List<MountHolder> holders = unmounting.unmount(mount.mountPoint()).holders();
            if (!holders.isEmpty()) {
                LOG.warn("storage {}: taken away under {}", mount.mountPoint(), holders);
            }
        }
    }

    private void keepLogs(Path folder, String label) {
        try {
            // munged logs to the journal.
            Map<String, Path> files = Map.of("charon", base.run.resolve("charon/charon.log"));
            new FailureLogs(base.programs, base.clock, files).save(folder, label);
        } catch (IOException e) {
            LOG.warn("logs: not kept in {}: {}", folder, e.getMessage());
        }
    }

    private void eraseScratch() throws IOException {
        Optional<ScratchVolume> scratch = scratch("worker/left");
        if (scratch.isEmpty()) {
            return;
        }
        ScratchVolumeErasure end = scratch.get().erase();
        erased = end.erased();
        erased.ifPresent(when -> base.volumes.recordErased(VolumeName.SCRATCH, when));
        if (!end.error().isEmpty()) {
            base.volumes.recordNotErased(VolumeName.SCRATCH);
            throw new IOException("scratch: not erased: " + end.error() + " " + end.holders());
        }
    }

    @Override
    public Optional<Instant> scratchErasedAt() {
        return erased;
    }

    /**
     * Powers the VM off; by the kernel if the storage is dead: systemd would sync first, and wait for it. All other
     * data is in RAM.
     */
    @Override
    public void powerOff() {
        PowerOff off = new PowerOff(base.programs);
        if (storageDead) {
            off.forceNow();
        } else {
            off.request();
        }
    }
}
