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
import org.cloister.base.mount.MountedFileSystem;
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
    private static final String SCRATCH_SERIAL = "scratch";
    private static final int MIB_BITS = 20;
    private static final Duration TUNNEL_LIMIT = Duration.ofMinutes(1);
    /** Longer than for a first tunnel, since a controlling VM that was just opened has much to do. */
    private static final Duration READMISSION_LIMIT = Duration.ofMinutes(3);

    /** Time for which the filter before slurmctld may not run. */
    private static final Duration SLURMD_LIMIT = Duration.ofMinutes(5);

    private static final Duration SLURMD_RETRY = Duration.ofSeconds(5);

    private static final Duration MOUNT_LIMIT = Duration.ofMinutes(1);
    private static final Duration UNMOUNT_LIMIT = Duration.ofSeconds(3);
    /**
     * Difference of clocks that is logged and, at a readmission, corrected; smaller ones do not disturb certificates
     * and munge.
     */
    private static final Duration LOGGED_DIFFERENCE = Duration.ofMinutes(2);

    private final Environment environment;
    private final BootKeyPairs keys;
    private final BootJournal journal;
    private final MungeDaemon munged;
    /** One object for start and stop of each: the one that started a daemon would start it again. */
    private final CharonDaemon charon;

    private final ChronyDaemon chronyd;
    private Optional<Instant> erased = Optional.empty();
    private @Nullable ProjectTunnels tunnels;
    private @Nullable SecretMemory tunnelKey;
    private @Nullable IkeTrustAnchors anchors;
    private boolean mungeStarted;
    private boolean scratchOpen;
    /** Set if the storage did not respond when it was to be unmounted. */
    private boolean storageUnresponsive;

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
            EspMode esp,
            Path run,
            Path etc,
            Path blocks) {}

    public LocalNodeSetup(Environment environment, BootKeyPairs keys, BootJournal journal) {
        this.environment = environment;
        this.keys = keys;
        this.journal = journal;
        this.munged = new MungeDaemon(environment.services, environment.run);
        this.charon = new CharonDaemon(environment.programs, environment.run.resolve("charon"), environment.esp);
        this.chronyd = new ChronyDaemon(environment.programs, environment.run.resolve("time"));
    }

    @Override
    public void apply(SetupStep step, AcceptedHandover handover) throws IOException {
        NodePlan plan = new NodePlan(handover.handOver(), environment.esp);
        journal.recordStep(step.toString(), note(step, plan, handover));
        switch (step) {
            // Nothing is encrypted yet, so swap of any kind is in clear.
            case MEMORY -> UnencryptedSwap.requireNone(environment.programs, List.of());
            case CLOCK -> setClock(handover.handOver().time());
            case NETWORK -> new ProjectInterface(environment.programs).up(plan.networkPlan());
            case TUNNEL -> startTunnel(plan, handover);
            case TIME ->
                chronyd.startClient(
                        plan.ownAddress().toString(), plan.controllerAddress().toString());
            case SCRATCH -> openScratch(plan);
            case STORAGE ->
                new StorageMounts(environment.programs, plan.controllerAddress(), plan.mounts()).mount(MOUNT_LIMIT);
            case NAMES -> new MachineNames(environment.programs, environment.etc).write(plan.names());
            case USERS -> new PasswdFiles(environment.etc, plan.homes()).write(plan.members());
            case MUNGE -> startMunge(handover);
            case SLURMD -> startSlurmd(plan);
            default -> throw new IllegalArgumentException("step: " + step);
        }
    }

    /** Returns what undoing the step needs, also for a later agent process. */
    private static String note(SetupStep step, NodePlan plan, AcceptedHandover handover) {
        return switch (step) {
            case NETWORK -> plan.networkPlan().mac();
            case STORAGE ->
                plan.label() + " "
                        + handover.handOver().accounts().jobUser().home().text();
            default -> "";
        };
    }

    /**
     * Sets the clock: times before this step were compared with this VM's clock, later ones with the controlling VM's.
     */
    private void setClock(Instant time) throws IOException {
        Duration difference = new SystemClock(environment.programs, environment.clock).set(time);
        if (difference.compareTo(LOGGED_DIFFERENCE) > 0) {
            LOG.warn(
                    "clock: was {} s from the controlling VM's and is set; check the host's clock",
                    difference.toSeconds());
        }
    }

    private void startTunnel(NodePlan plan, AcceptedHandover handover) throws IOException {
        charon.start();
        tunnelKey = keys.signingPkcs8();
        anchors = IkeTrustAnchors.create(plan.project(), environment.clock.instant(), new SecureRandom());
        tunnels = ProjectTunnels.open(
                charon.socket(), plan.tunnelPlan(handover, tunnelKey, anchors), event -> LOG.info("tunnel {}", event));
        tunnels.awaitUp(plan.controller(), TUNNEL_LIMIT);
    }

    private void openScratch(NodePlan plan) throws IOException {
        Optional<ScratchVolume> scratch = findScratch("worker/" + plan.label().replace('-', '.'));
        if (scratch.isPresent()) {
            scratch.get().open();
            scratchOpen = true;
            ScratchPlan scratchPlan = scratch.get().plan();
            environment.volumes.recordOpened(
                    VolumeName.SCRATCH, Cryptsetup.load(), scratchPlan.mapping(), scratchPlan.mountPoint());
        }
    }

    /** Returns the scratch volume; empty if this VM's shape has no such disk. */
    private Optional<ScratchVolume> findScratch(String label) throws IOException {
        Optional<Path> disk = new DisksBySerial(environment.blocks).find(SCRATCH_SERIAL);
        if (disk.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new ScratchVolume(
                environment.programs,
                environment.secrets,
                Cryptsetup.load(),
                environment.clock,
                ScratchPlan.of(disk.get(), label)));
    }

    private void startMunge(AcceptedHandover handover) throws IOException {
        mungeStarted = true;
        munged.start(
                environment.secrets, handover.mungeKey(), DaemonAccount.of(environment.etc.resolve("passwd"), "munge"));
        handover.close();
        // Checks that munged accepts a credential of its own.
        environment.programs.runChecked(
                environment.programs.runChecked("munge", "-n"), List.of("unmunge", "-o", "/dev/null"));
    }

    /**
     * Starts slurmd. The start has succeeded when slurmd has its configuration, since only then does slurmd detach from
     * its caller.
     */
    private void startSlurmd(NodePlan plan) throws IOException {
        OptionalLong scratchMib = scratchOpen
                ? OptionalLong.of(Files.getFileStore(Path.of("/scratch")).getTotalSpace() >> MIB_BITS)
                : OptionalLong.empty();
        new SlurmdStart(
                        environment.services,
                        plan.controllerPort()::answers,
                        environment.clock,
                        SLURMD_LIMIT,
                        SLURMD_RETRY)
                .start(SlurmdDropIn.settings(
                        plan.slurmdArguments(scratchMib), Runtime.getRuntime().availableProcessors()));
    }

    /**
     * Replaces the munge key and the tunnels' credentials; NFS waits for both by itself, and so do a job's steps. The
     * key comes first: a step retries while it does not reach slurmctld, but the report of its end is lost if slurmctld
     * refuses the old key. Restarts slurmd, because slurmctld polled its nodes before they were back and would poll
     * them again after 100 s only, whereas it accepts a slurmd that starts at once.
     */
    @Override
    public void applyReadmission(AcceptedHandover handover, boolean reopened) throws IOException {
        if (Duration.between(environment.clock.instant(), handover.issuedAt())
                        .abs()
                        .compareTo(LOGGED_DIFFERENCE)
                > 0) {
            setClock(handover.issuedAt());
        }
        boolean isKeyReplaced = mungeStarted && reopened;
        if (isKeyReplaced) {
            munged.stop();
            startMunge(handover);
        }
        if (tunnels != null && tunnelKey != null && anchors != null) {
            String controller = handover.handOver().controller().id();
            tunnels.migrate(
                    NodePlan.credential(handover, tunnelKey),
                    NodePlan.authorities(handover, anchors),
                    reopened ? Optional.of(controller) : Optional.empty());
            tunnels.awaitUp(controller, READMISSION_LIMIT);
        }
        if (isKeyReplaced) {
            environment.services.tryRestart(SLURMD);
        }
    }

    @Override
    public void undo(SetupStep step, boolean failed) throws IOException {
        switch (step) {
            case SLURMD -> {
                if (failed) {
                    dropOutboundTcp();
                }
                try {
                    environment.services.stop(SLURMD);
                } finally {
                    // They would keep scratch and storage busy.
                    new JobProcesses(LoginRules.LEAST_ID, LoginRules.MOST_ID).killAll();
                }
            }
            case MUNGE -> munged.stop();
            case STORAGE -> unmount(failed);
            case SCRATCH -> eraseScratch();
            case TIME -> chronyd.stop();
            case TUNNEL -> {
                if (tunnels != null) {
                    tunnels.close();
                }
                charon.stop();
                if (tunnelKey != null) {
                    tunnelKey.close();
                }
            }
            case NETWORK -> {
                Optional<String> mac = journal.stepNote(SetupStep.NETWORK.toString());
                if (mac.isPresent()) {
                    new ProjectInterface(environment.programs).downWithMac(mac.get());
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
    private void dropOutboundTcp() {
        try {
            new OutboundTcpDropTable(NfsServer.PORT).install(environment.programs);
        } catch (IOException e) {
            LOG.error(
                    "outgoing TCP cannot be dropped: {}; slurmctld may learn of the job's end before this VM's",
                    e.getMessage());
        }
    }

    /**
     * Unmounts all of the project's storage, including mounts that others made. Does not wait for storage that does not
     * respond: scratch must be erased in the time that the host allows.
     */
    private void unmount(boolean failed) throws IOException {
        Unmounter unmounter = new Unmounter(environment.programs, UNMOUNT_LIMIT);
        List<MountedFileSystem> mounts = new ArrayList<>(MountedFileSystem.list(environment.programs).stream()
                .filter(mount -> mount.type().equals(NFS))
                .toList());
        mounts.sort(Comparator.comparing(
                        (MountedFileSystem mount) -> mount.mountPoint().getNameCount())
                .reversed());
        storageUnresponsive =
                !mounts.isEmpty() && !unmounter.isResponsive(mounts.get(0).mountPoint());
        if (storageUnresponsive) {
            LOG.warn("storage does not answer: no logs are saved, and data that the job has not synced may be lost");
            for (MountedFileSystem mount : mounts) {
                unmounter.abandon(mount.mountPoint());
            }
            return;
        }
        Optional<String> worker = journal.stepNote(SetupStep.STORAGE.toString());
        if (failed && worker.isPresent()) {
            String[] labelAndHome = worker.get().split(" ", 2);
            saveLogs(Path.of(labelAndHome[1]), labelAndHome[0]);
        }
        for (MountedFileSystem mount : mounts) {
            List<MountHolder> holders = unmounter.unmount(mount.mountPoint()).holders();
            if (!holders.isEmpty()) {
                LOG.warn("storage {}: unmounted while processes had files open: {}", mount.mountPoint(), holders);
            }
        }
    }

    private void saveLogs(Path folder, String label) {
        try {
            // munged logs to the journal.
            Map<String, Path> files = Map.of("charon", environment.run.resolve("charon/charon.log"));
            new FailureLogs(environment.programs, environment.clock, files).save(folder, label);
        } catch (IOException e) {
            LOG.warn("logs cannot be saved in {}: {}", folder, e.getMessage());
        }
    }

    private void eraseScratch() throws IOException {
        Optional<ScratchVolume> scratch = findScratch("worker/left");
        if (scratch.isEmpty()) {
            return;
        }
        ScratchVolume.Erasure erasure = scratch.get().erase();
        erased = erasure.erased();
        erased.ifPresent(when -> environment.volumes.recordErased(VolumeName.SCRATCH, when));
        if (!erasure.error().isEmpty()) {
            environment.volumes.recordNotErased(VolumeName.SCRATCH);
            throw new IOException("scratch: not erased: " + erasure.error() + " " + erasure.holders());
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
        PowerOff off = new PowerOff(environment.programs);
        if (storageUnresponsive) {
            off.forceNow();
        } else {
            off.request();
        }
    }
}
