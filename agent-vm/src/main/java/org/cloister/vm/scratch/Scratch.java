package org.cloister.vm.scratch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.secret.Secrets;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.luks.volume.Integrity;
import org.cloister.luks.volume.Key;
import org.cloister.luks.volume.Volume;
import org.cloister.luks.volume.VolumeException;
import org.cloister.vm.machine.Holder;
import org.cloister.vm.machine.Mount;
import org.cloister.vm.machine.Programs;
import org.cloister.vm.machine.Unmounting;

/**
 * A worker's scratch disk: a LUKS2 volume without key slots under a random key that is in nobody's hands but the kernel's
 * once it is mapped. A volume that a killed agent left is erased, never used again.
 */
public final class Scratch {
    /** Sticky, and everybody's. */
    private static final int SHARED = 01777;

    /** Sizes as {@link ScratchSize} counts them, whatever mke2fs.conf says; no journal, for it is never mounted a second time. */
    public static final List<String> FILE_SYSTEM = List.of(
            "mkfs.ext4",
            "-q",
            "-m",
            "0",
            "-b",
            "4096",
            "-I",
            "256",
            "-i",
            "16384",
            "-O",
            "^has_journal,^resize_inode",
            "-E",
            "lazy_itable_init=1,nodiscard");

    private static final Duration PATIENCE = Duration.ofSeconds(3);
    private static final Duration FORMAT_LIMIT = Duration.ofMinutes(2);

    private final Programs programs;
    private final Secrets secrets;
    private final Cryptsetup cryptsetup;
    private final InstantSource clock;
    private final ScratchPlan plan;
    private final Unmounting unmounting;

    public Scratch(Programs programs, Secrets secrets, Cryptsetup cryptsetup, InstantSource clock, ScratchPlan plan) {
        this.programs = programs;
        this.secrets = secrets;
        this.cryptsetup = cryptsetup;
        this.clock = clock;
        this.plan = plan;
        this.unmounting = new Unmounting(programs, PATIENCE);
    }

    public ScratchPlan plan() {
        return plan;
    }

    /**
     * Makes the volume, its file system and its folders.
     *
     * @throws IOException if the machine could swap a job's memory out in clear, or a step fails; what was made is taken back
     */
    public void open() throws IOException {
        Swaps.requireNoneInClear(programs, List.of(plan.mapping().path(), plan.at()));
        if (isThere()) {
            requireErased(end());
        }
        boolean done = false;
        try {
            map();
            fileSystem();
            folders();
            done = true;
        } finally {
            if (!done) {
                end();
            }
        }
    }

    /**
     * Takes it away and destroys its key, which makes noise of the disk; then the header is overwritten. Ends no process: who
     * still has a file open is said, and the volume cannot be erased then. May be called again.
     */
    public Erasure end() {
        List<Holder> holders = new ArrayList<>();
        try {
            List<Path> places = new ArrayList<>(plan.temporary());
            places.add(plan.at());
            for (Path place : places) {
                if (isOurs(place)) {
                    holders.addAll(unmounting.unmount(place).holders());
                }
            }
            boolean mapped = cryptsetup.close(plan.mapping());
            if (!mapped && !hasHeader()) {
                return new Erasure(Optional.empty(), holders, "");
            }
            cryptsetup.erase(plan.device(), org.cloister.luks.volume.Erasure.Scope.HEADER);
            return new Erasure(Optional.of(clock.instant()), holders, "");
        } catch (IOException e) {
            return new Erasure(Optional.empty(), holders, String.valueOf(e.getMessage()));
        }
    }

    private boolean isThere() throws IOException {
        return cryptsetup.status(plan.mapping()).isPresent() || hasHeader();
    }

    private boolean hasHeader() throws VolumeException {
        try {
            cryptsetup.open(plan.device()).close();
            return true;
        } catch (VolumeException.NotLuks e) {
            return false;
        } catch (VolumeException.DamagedHeader | VolumeException.Truncated | VolumeException.Luks1 e) {
            return true;
        }
    }

    private static void requireErased(Erasure erasure) throws IOException {
        if (erasure.erased().isEmpty()) {
            throw new IOException("scratch volume of an earlier agent: want it erased, have " + erasure.trouble() + " "
                    + erasure.holders());
        }
    }

    /** The key is wiped here as soon as the kernel has it; closing the mapping destroys the only one left. */
    private void map() throws IOException {
        try (SecretMemory key = secrets.random(Integrity.NONE.volumeKeyLength());
                Volume volume = cryptsetup.create(plan.device(), plan.label(), key)) {
            volume.map(plan.mapping(), Key.ofVolume(key), Set.of());
        }
    }

    private void fileSystem() throws IOException {
        String device = plan.mapping().path().toString();
        List<String> make = new ArrayList<>(FILE_SYSTEM);
        make.add(device);
        Programs.Output made = programs.run("", make, FORMAT_LIMIT);
        if (made.exit() != 0) {
            throw new IOException("mkfs.ext4 " + device + ": " + made.complaint());
        }
        Mount.ext4(programs, plan.mapping().path(), plan.at());
        share(plan.at());
    }

    private void folders() throws IOException {
        for (Path place : plan.temporary()) {
            Path own = plan.at().resolve("." + place.toString().substring(1).replace('/', '-'));
            Files.createDirectory(own);
            share(own);
            programs.succeed("mount", "--bind", own.toString(), place.toString());
        }
    }

    private static void share(Path folder) throws IOException {
        Files.setAttribute(folder, "unix:mode", SHARED, LinkOption.NOFOLLOW_LINKS);
    }

    private boolean isOurs(Path place) throws IOException {
        return Mount.at(programs, place).stream()
                .anyMatch(mount -> mount.source().equals(plan.mapping().path().toString()));
    }
}
