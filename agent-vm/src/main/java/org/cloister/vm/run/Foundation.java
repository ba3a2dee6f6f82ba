package org.cloister.vm.run;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.cloister.ipsec.Address;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.key.KeyException;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.SealingContext;
import org.cloister.protocol.handover.Station;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.drive.Drive;
import org.cloister.vm.drive.DriveDisk;
import org.cloister.vm.drive.DriveLayout;
import org.cloister.vm.drive.DrivePlan;
import org.cloister.vm.drive.DriveRefused;
import org.cloister.vm.machine.DaemonAccount;
import org.cloister.vm.machine.Disks;
import org.cloister.vm.machine.MachineClock;
import org.cloister.vm.network.NetworkPlan;
import org.cloister.vm.network.Uplink;
import org.cloister.vm.opening.Papers;
import org.cloister.vm.opening.PapersFolder;
import org.cloister.vm.opening.ProjectFolder;
import org.cloister.vm.opening.Refusal;
import org.cloister.vm.opening.UnlockRefused;
import org.cloister.vm.opening.Unlocked;
import org.cloister.vm.scratch.Swaps;
import org.cloister.vm.slurm.LocalConfiguration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a controlling VM has once it is opened: the time, its place in the network, and its project's drive. */
final class Foundation implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Foundation.class);
    private static final Duration WORTH_SAYING = Duration.ofSeconds(2);

    private final Equipment equipment;
    private final Unlocked unlocked;
    private final Drive drive;
    private final DriveLayout layout = new DriveLayout(DrivePlan.AT);
    private final NetworkPlan network;
    private final Uplink uplink;
    private Optional<ProjectFolder.Standing> standing = Optional.empty();

    private Foundation(Equipment equipment, Unlocked unlocked, Drive drive) {
        this.equipment = equipment;
        this.unlocked = unlocked;
        this.drive = drive;
        this.uplink = new Uplink(equipment.programs());
        this.network = network(unlocked.station(), equipment);
    }

    /** With what the opener is told of the drive. */
    record Laid(Foundation foundation, VmMessage.Opened opened) {}

    /** @throws UnlockRefused if a step failed; what was made is taken back, and the VM is to end */
    static Laid lay(Equipment equipment, BootKeyPairs keys, Unlocked unlocked) throws UnlockRefused {
        try (SecretMemory key = key(equipment, keys, unlocked)) {
            requireNoClearSwap(equipment);
            Drive drive = drive(equipment, unlocked);
            Foundation foundation = new Foundation(equipment, unlocked, drive);
            boolean done = false;
            try {
                foundation.setClock();
                foundation.uplink.up(foundation.network);
                Drive.Opened opened = drive.open(key, unlocked.epoch(), unlocked.create());
                foundation.settle();
                done = true;
                return new Laid(foundation, new VmMessage.Opened(opened.before(), opened.made()));
            } finally {
                if (!done) {
                    foundation.close();
                }
            }
        } catch (UnlockRefused e) {
            throw e;
        } catch (DriveRefused e) {
            throw new UnlockRefused(BootPhase.DRIVE, e.why().toString(), e);
        } catch (IOException e) {
            throw new UnlockRefused(Refusal.CONTROLLER, e);
        }
    }

    private static void requireNoClearSwap(Equipment equipment) throws UnlockRefused {
        try {
            Swaps.requireNoneInClear(equipment.programs(), List.of());
        } catch (IOException e) {
            throw new UnlockRefused(Refusal.CLEAR_SWAP, e);
        }
    }

    DriveLayout layout() {
        return layout;
    }

    NetworkPlan network() {
        return network;
    }

    Uplink uplink() {
        return uplink;
    }

    Unlocked unlocked() {
        return unlocked;
    }

    /** Who uses the project, and how: what was brought now, or what the drive had. */
    ProjectFolder.Standing standing() {
        return standing.orElseThrow();
    }

    /** @return why this VM may write to the drive no more; empty if it may */
    Optional<String> lost() {
        try {
            OptionalLong epoch = drive.epoch();
            return epoch.isPresent() && epoch.getAsLong() == unlocked.epoch()
                    ? Optional.empty()
                    : Optional.of(
                            "drive: want epoch " + unlocked.epoch() + ", have " + epoch + "; another VM was given it");
        } catch (IOException e) {
            // Unknown is not another's: a storage that says nothing is the host's to judge.
            LOG.warn("drive: its header does not read, and is read again: {}", e.getMessage());
            return Optional.empty();
        }
    }

    /** The drive, then the network. */
    @Override
    public void close() {
        Parts parts = new Parts();
        parts.push(() -> uplink.down(network));
        parts.push(() -> {
            var holders = drive.close();
            if (!holders.isEmpty()) {
                LOG.warn("drive: closed under {}", holders);
            }
        });
        parts.close();
    }

    private void settle() throws IOException {
        Path passwd = equipment.etc().resolve("passwd");
        DaemonAccount database = DaemonAccount.of(passwd, "mysql");
        DaemonAccount controller = DaemonAccount.of(passwd, LocalConfiguration.ACCOUNT);
        // What members cannot fill is the database's and slurmctld's, too: without room they do not start, and nobody
        // could
        // come to make some.
        equipment
                .programs()
                .succeed(
                        "mount",
                        "-o",
                        "remount,resuid=" + controller.uid() + ",resgid=" + database.gid(),
                        layout.root().toString());
        layout.make(0, database, controller);
        PapersFolder folder = new PapersFolder(layout.agent().resolve("papers"));
        Optional<Papers> seen = folder.read();
        if (seen.isPresent()) {
            unlocked.papers().requireAfter(seen.get(), unlocked.time());
        }
        standing = Optional.of(new ProjectFolder(layout.project()).take(unlocked.brought()));
        folder.write(unlocked.papers());
    }

    /** The opener's word on the time, for the VM's own is its host's. */
    private void setClock() throws IOException {
        Duration apart = new MachineClock(equipment.programs(), InstantSource.system()).set(unlocked.time());
        if (apart.compareTo(WORTH_SAYING) > 0) {
            LOG.warn("clock: was {} s from the opener's; look at the host's", apart.toSeconds());
        }
    }

    private static Drive drive(Equipment equipment, Unlocked unlocked) throws IOException {
        Path disk = DriveDisk.find(new Disks(Path.of("/sys/block")));
        String project = unlocked.papers().project().id();
        return new Drive(
                equipment.programs(),
                equipment.crypto().secrets(),
                equipment.cryptsetup(),
                DrivePlan.of(disk, project));
    }

    private static SecretMemory key(Equipment equipment, BootKeyPairs keys, Unlocked unlocked) throws UnlockRefused {
        byte[] info = SealingContext.unlock(unlocked.papers().project().id(), unlocked.place(), unlocked.epoch());
        byte[] sealed = unlocked.driveKey().bytes().toByteArray();
        try {
            return new Hpke(equipment.crypto()).open(keys.sealing(), info, new byte[0], sealed);
        } catch (KeyException e) {
            throw new UnlockRefused(Refusal.KEY, e);
        } catch (IOException e) {
            throw new UnlockRefused(Refusal.CONTROLLER, e);
        }
    }

    private static NetworkPlan network(Station station, Equipment equipment) {
        Address own = new Address(station.address().toString());
        return new NetworkPlan(
                station.mac().toString(),
                own,
                station.network().prefix(),
                station.mtu(),
                own,
                List.of(),
                equipment.esp());
    }
}
