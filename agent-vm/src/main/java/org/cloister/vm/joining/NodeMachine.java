package org.cloister.vm.joining;

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
import org.cloister.ipsec.Esp;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.secret.Secrets;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.protocol.handover.Login;
import org.cloister.protocol.identity.IkeAnchors;
import org.cloister.vm.boot.Begun;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.machine.Chronyd;
import org.cloister.vm.machine.DaemonAccount;
import org.cloister.vm.machine.Disks;
import org.cloister.vm.machine.Holder;
import org.cloister.vm.machine.JobProcesses;
import org.cloister.vm.machine.MachineClock;
import org.cloister.vm.machine.Mount;
import org.cloister.vm.machine.Munged;
import org.cloister.vm.machine.PowerOff;
import org.cloister.vm.machine.Programs;
import org.cloister.vm.machine.Services;
import org.cloister.vm.machine.Unmounting;
import org.cloister.vm.names.MachineNames;
import org.cloister.vm.network.Silence;
import org.cloister.vm.network.Uplink;
import org.cloister.vm.scratch.Erasure;
import org.cloister.vm.scratch.Scratch;
import org.cloister.vm.scratch.ScratchPlan;
import org.cloister.vm.scratch.Swaps;
import org.cloister.vm.storage.NfsServer;
import org.cloister.vm.storage.StorageMounts;
import org.cloister.vm.tunnel.Charon;
import org.cloister.vm.tunnel.ProjectTunnels;
import org.cloister.vm.users.NameFiles;
import org.cloister.vm.volume.VolumeName;
import org.cloister.vm.volume.Volumes;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The machine of a worker: a step is begun after a line says so, and undone by what the machine and that line say. */
final class NodeMachine implements Steps {
    private static final Logger LOG = LoggerFactory.getLogger(NodeMachine.class);
    static final String SLURMD = "slurmd.service";
    private static final String NFS = "nfs4";
    private static final String TIME = "time";
    private static final String SCRATCH_SERIAL = "scratch";
    private static final int MIB_BITS = 20;
    private static final Duration TUNNEL_LIMIT = Duration.ofMinutes(1);
    /** A VM that was just opened has much to do. */
    private static final Duration READMISSION_LIMIT = Duration.ofMinutes(3);

    private static final Duration MOUNT_LIMIT = Duration.ofMinutes(1);
    private static final Duration UNMOUNT_PATIENCE = Duration.ofSeconds(3);
    /** Certificates and munge do not mind less. */
    private static final Duration WORTH_SAYING = Duration.ofMinutes(2);

    private final Base base;
    private final BootKeyPairs keys;
    private final Begun begun;
    private final Munged munged;
    private Optional<Instant> erased = Optional.empty();
    private @Nullable Charon charon;
    private @Nullable ProjectTunnels tunnels;
    private @Nullable SecretMemory tunnelKey;
    private @Nullable IkeAnchors anchors;
    private boolean munging;
    private boolean scratched;
    /** It did not answer when it was to be taken away. */
    private boolean storageDead;

    /**
     * What it stands on.
     *
     * @param run a folder on tmpfs
     * @param etc {@code /etc}
     * @param blocks {@code /sys/block}
     */
    record Base(
            Programs programs,
            Services services,
            Secrets secrets,
            Volumes volumes,
            InstantSource clock,
            Esp by,
            Path run,
            Path etc,
            Path blocks) {}

    NodeMachine(Base base, BootKeyPairs keys, Begun begun) {
        this.base = base;
        this.keys = keys;
        this.begun = begun;
        this.munged = new Munged(base.services, base.run);
    }

    @Override
    public void take(Step step, HandedOver given) throws IOException {
        Node node = new Node(given.handOver(), base.by);
        begun.step(step.toString(), note(step, node, given));
        switch (step) {
            // Nothing is encrypted yet, so swap of any kind is in clear.
            case MEMORY -> Swaps.requireNoneInClear(base.programs, List.of());
            case CLOCK -> clock(given.handOver().time());
            case NETWORK -> new Uplink(base.programs).up(node.network());
            case TUNNEL -> tunnel(node, given);
            case TIME -> time(node);
            case SCRATCH -> scratch(node);
            case STORAGE ->
                new StorageMounts(base.programs, node.controllerAddress(), node.mounts()).mount(MOUNT_LIMIT);
            case NAMES -> new MachineNames(base.programs, base.etc).write(node.names());
            case USERS -> new NameFiles(base.etc, node.homes()).write(node.members());
            case MUNGE -> munge(given);
            case SLURMD -> slurmd(node);
            default -> throw new IllegalArgumentException("step: " + step);
        }
    }

    /** What it is undone by, also by an agent that comes after this one. */
    private static String note(Step step, Node node, HandedOver given) {
        return switch (step) {
            case NETWORK -> node.network().mac();
            case STORAGE ->
                node.label() + " "
                        + given.handOver().accounts().jobUser().home().text();
            default -> "";
        };
    }

    /** One rule: what came before was held against this VM's clock, what comes now against the controlling VM's. */
    private void clock(Instant time) throws IOException {
        Duration apart = new MachineClock(base.programs, base.clock).set(time);
        if (apart.compareTo(WORTH_SAYING) > 0) {
            LOG.warn("clock: was {} s from the controlling VM's; look at the host's", apart.toSeconds());
        }
    }

    private void tunnel(Node node, HandedOver given) throws IOException {
        charon = charon();
        charon.start();
        tunnelKey = keys.signing(base.secrets);
        anchors = IkeAnchors.begin(node.project(), base.clock.instant(), new SecureRandom());
        tunnels = ProjectTunnels.open(
                charon.socket(), node.tunnels(given, tunnelKey, anchors), event -> LOG.info("tunnel {}", event));
        tunnels.awaitUp(node.controller(), TUNNEL_LIMIT);
    }

    private void time(Node node) throws IOException {
        Chronyd.following(
                        base.programs,
                        base.run.resolve(TIME),
                        node.ownAddress().toString(),
                        node.controllerAddress().toString())
                .start();
    }

    private Charon charon() {
        return new Charon(base.programs, base.run.resolve("charon"), base.by);
    }

    private void scratch(Node node) throws IOException {
        Optional<Scratch> scratch = scratch("worker/" + node.label().replace('-', '.'));
        if (scratch.isPresent()) {
            scratch.get().open();
            scratched = true;
            ScratchPlan plan = scratch.get().plan();
            base.volumes.opened(VolumeName.SCRATCH, Cryptsetup.load(), plan.mapping(), plan.at());
        }
    }

    /** Empty if this VM's shape has no such disk. */
    private Optional<Scratch> scratch(String label) throws IOException {
        Optional<Path> disk = new Disks(base.blocks).withSerial(SCRATCH_SERIAL);
        if (disk.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new Scratch(
                base.programs, base.secrets, Cryptsetup.load(), base.clock, ScratchPlan.of(disk.get(), label)));
    }

    private void munge(HandedOver given) throws IOException {
        munging = true;
        munged.start(base.secrets, given.mungeKey(), DaemonAccount.of(base.etc.resolve("passwd"), "munge"));
        given.close();
        // A credential that its own daemon takes.
        base.programs.succeed(base.programs.succeed("munge", "-n"), List.of("unmunge", "-o", "/dev/null"));
    }

    /** Ready when it has its configuration, for then it lets its caller go. */
    private void slurmd(Node node) throws IOException {
        OptionalLong scratchMib = scratched
                ? OptionalLong.of(Files.getFileStore(Path.of("/scratch")).getTotalSpace() >> MIB_BITS)
                : OptionalLong.empty();
        base.services.start(
                SLURMD,
                NodeUnit.settings(node.slurmd(scratchMib), Runtime.getRuntime().availableProcessors()));
    }

    /**
     * NFS waits for both by itself, and so do a job's steps. slurmctld looked for its nodes before they were back and would next
     * after 100 s; to a slurmd that starts it listens at once.
     */
    @Override
    public void readmit(HandedOver given, boolean opened) throws IOException {
        if (Duration.between(base.clock.instant(), given.from()).abs().compareTo(WORTH_SAYING) > 0) {
            clock(given.from());
        }
        if (tunnels != null && tunnelKey != null && anchors != null) {
            String controller = given.handOver().controller().id();
            tunnels.move(
                    Node.credential(given, tunnelKey),
                    Node.authorities(given, anchors),
                    opened ? Optional.of(controller) : Optional.empty());
            tunnels.awaitUp(controller, READMISSION_LIMIT);
        }
        if (munging && opened) {
            munged.stop();
            munge(given);
            base.services.renew(SLURMD);
        }
    }

    @Override
    public void undo(Step step, boolean failed) throws IOException {
        switch (step) {
            case SLURMD -> {
                if (failed) {
                    silence();
                }
                try {
                    base.services.stop(SLURMD);
                } finally {
                    // They would hold scratch and storage.
                    new JobProcesses(Login.LEAST_ID, Login.MOST_ID).end();
                }
            }
            case MUNGE -> munged.stop();
            case STORAGE -> unmount(failed);
            case SCRATCH -> eraseScratch();
            case TIME -> Chronyd.stop(base.programs, base.run.resolve(TIME));
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
                Optional<String> mac = begun.note(Step.NETWORK.toString());
                if (mac.isPresent()) {
                    new Uplink(base.programs).downWithMac(mac.get());
                }
            }
            // What they changed is in RAM, and of no use to anybody.
            case MEMORY, CLOCK, NAMES, USERS -> {}
            default -> throw new IllegalArgumentException("step: " + step);
        }
    }

    /**
     * A job that is killed here has not ended: only who knows that the VM has gone says what becomes of it. Without it its
     * steps would tell slurmctld, and srun elsewhere would see them go.
     */
    private void silence() {
        try {
            new Silence(NfsServer.PORT).begin(base.programs);
        } catch (IOException e) {
            LOG.error("slurmctld may hear of the job's end before that of this VM: {}", e.getMessage());
        }
    }

    /**
     * Whatever is mounted of a project's storage, whoever mounted it. When that does not answer nothing waits for it: scratch is
     * to be erased in the time that the host gives.
     */
    private void unmount(boolean failed) throws IOException {
        Unmounting unmounting = new Unmounting(base.programs, UNMOUNT_PATIENCE);
        List<Mount> mounts = new ArrayList<>(Mount.list(base.programs).stream()
                .filter(mount -> mount.type().equals(NFS))
                .toList());
        mounts.sort(
                Comparator.comparing((Mount mount) -> mount.at().getNameCount()).reversed());
        storageDead = !mounts.isEmpty() && !unmounting.answers(mounts.get(0).at());
        if (storageDead) {
            LOG.warn("storage: does not answer; no logs are kept, and what the job has not synced may be lost");
            for (Mount mount : mounts) {
                unmounting.abandon(mount.at());
            }
            return;
        }
        Optional<String> worker = begun.note(Step.STORAGE.toString());
        if (failed && worker.isPresent()) {
            String[] labelAndHome = worker.get().split(" ", 2);
            keepLogs(Path.of(labelAndHome[1]), labelAndHome[0]);
        }
        for (Mount mount : mounts) {
            List<Holder> holders = unmounting.unmount(mount.at()).holders();
            if (!holders.isEmpty()) {
                LOG.warn("storage {}: taken away under {}", mount.at(), holders);
            }
        }
    }

    private void keepLogs(Path folder, String label) {
        try {
            // What munged says is in the journal.
            Map<String, Path> files = Map.of("charon", base.run.resolve("charon/charon.log"));
            new KeptLogs(base.programs, base.clock, files).keep(folder, label);
        } catch (IOException e) {
            LOG.warn("logs: not kept in {}: {}", folder, e.getMessage());
        }
    }

    private void eraseScratch() throws IOException {
        Optional<Scratch> scratch = scratch("worker/left");
        if (scratch.isEmpty()) {
            return;
        }
        Erasure end = scratch.get().end();
        erased = end.erased();
        erased.ifPresent(when -> base.volumes.erased(VolumeName.SCRATCH, when));
        if (!end.trouble().isEmpty()) {
            base.volumes.left(VolumeName.SCRATCH);
            throw new IOException("scratch: not erased: " + end.trouble() + " " + end.holders());
        }
    }

    @Override
    public Optional<Instant> erased() {
        return erased;
    }

    /** systemd would sync first, and wait for a storage that is dead; what there is else is in RAM. */
    @Override
    public void powerOff() {
        PowerOff off = new PowerOff(base.programs);
        if (storageDead) {
            off.atOnce();
        } else {
            off.begin();
        }
    }
}
