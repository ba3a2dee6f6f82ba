package org.cloister.host.drive;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;
import org.cloister.preflight.DriveStorageCheck;

/**
 * Drives on storage that several hosts share, and their leases: {@code PROJECT/NAME.img} with {@code NAME.lease} beside
 * it, which is read and changed under the lock of {@code NAME.lock}. Clocks of different hosts are never compared. Any
 * thread may call; calls within one process are serialized. While the storage hangs, so does the caller.
 */
public final class SharedDrives {
    /** File in the folder of all drives that proves the storage is mounted. */
    public static final String MARK = DriveStorageCheck.MARK;

    private static final Duration POLL_INTERVAL = Duration.ofSeconds(1);
    /** Maximum of files in a folder; a site has fewer, including leases of old projects. */
    private static final int MAX_FILES = 1 << 16;
    /** Permissions that let QEMU pass, which runs as another user. */
    private static final Set<PosixFilePermission> PASSABLE = PosixFilePermissions.fromString("rwx--x--x");

    private final Path folder;
    private final String host;
    private final int seconds;

    /**
     * @param folder of all drives
     * @param host this host's name in its certificate
     * @param age time that a holder on this host may go without a check of its lease, {@link LeaseHolder#seconds}
     */
    public SharedDrives(Path folder, String host, Duration age) {
        this.folder = folder;
        this.host = host;
        this.seconds = (int) age.toSeconds();
    }

    /** Holder on this host in a drive's lease. */
    public record NamedLease(DriveName drive, LeaseHolder holder) {}

    /**
     * Leases that were found.
     *
     * @param damaged reasons why leases could not be read; their drives cannot be acquired, and the files stay
     *     unchanged
     */
    public record Leases(List<NamedLease> ofThisHost, List<String> damaged) {
        public Leases {
            ofThisHost = List.copyOf(ofThisHost);
            damaged = List.copyOf(damaged);
        }
    }

    public Path image(DriveName drive) {
        return drive.image(folder);
    }

    /** Returns this host's entry in a lease. */
    public LeaseHolder holder(long epoch, String opening) {
        return new LeaseHolder(epoch, host, opening, seconds);
    }

    /**
     * Acquires a drive. It writes the lease first, and then waits until every earlier holder has released the drive or
     * has had the time to detect the loss and stop its VM. The epoch is used up from the start. A caller that does not
     * proceed must release the drive, also if this throws.
     *
     * @param mib size of the image to create if there is none; 0 if it must exist
     * @return false if the caller has stopped waiting
     * @throws StartFailed if another holder has the drive with the same or a higher epoch, also during the wait;
     *     or if the drive cannot be acquired
     */
    public boolean acquire(DriveName drive, LeaseHolder taker, int mib, LeaseWait wait)
            throws IOException, InterruptedException {
        try {
            return writeAndWait(drive, taker, mib, wait);
        } catch (StartFailed e) {
            throw e;
        } catch (IOException e) {
            throw new StartFailed(
                    VmRunCode.UNAVAILABLE,
                    "the storage of the drives failed: " + e.getMessage(),
                    "check the folder vm.drives on this host",
                    e);
        }
    }

    private boolean writeAndWait(DriveName drive, LeaseHolder taker, int mib, LeaseWait wait)
            throws IOException, InterruptedException {
        requireMounted();
        makeFolder(drive);
        write(drive, taker, mib);
        long startNs = wait.nowNs();
        while (!isAlone(drive, taker, mib, Duration.ofNanos(wait.nowNs() - startNs))) {
            if (!wait.pause(POLL_INTERVAL)) {
                return false;
            }
        }
        return true;
    }

    private synchronized void write(DriveName drive, LeaseHolder taker, int mib) throws IOException {
        try (LockedDrive locked = LockedDrive.of(folder, drive)) {
            if (mib == 0 && !locked.hasImage()) {
                throw refused(
                        "drive " + drive + ": its image " + drive.image(folder) + " does not exist",
                        "name a size with the opening to create it, or restore the image");
            }
            Optional<DriveLease> lease = lease(drive, locked);
            if (lease.isEmpty()) {
                locked.writeLease(new DriveLease(taker.epoch(), Optional.of(taker), List.of()));
            } else if (!lease.get().isHeldBy(taker)) {
                locked.writeLease(later(drive, lease.get(), taker));
            }
        }
    }

    private static DriveLease later(DriveName drive, DriveLease lease, LeaseHolder taker) throws StartFailed {
        if (taker.epoch() <= lease.epoch()) {
            throw refused(
                    "drive " + drive + ": the opening's epoch " + taker.epoch() + " is not later than " + lease.epoch()
                            + ", the newest one"
                            + lease.holder().map(each -> " of " + each).orElse(""),
                    "sign an opening with a later epoch");
        }
        try {
            return lease.acquiredBy(taker);
        } catch (IllegalArgumentException e) {
            throw refused(
                    "drive " + drive + ": its lease: " + e.getMessage(),
                    "start agent-host on the hosts that it names; they release what does not run");
        }
    }

    /**
     * Reads the lease. An unreadable one is left unchanged: it may be the only record that some VM writes to the drive.
     */
    private Optional<DriveLease> lease(DriveName drive, LockedDrive locked) throws IOException {
        try {
            return locked.lease();
        } catch (MalformedException e) {
            throw refused(
                    "drive " + drive + ": its lease cannot be read: " + e.getMessage(),
                    "stop the drive's VM, check on every host that none runs, and delete the file");
        }
    }

    private synchronized boolean isAlone(DriveName drive, LeaseHolder taker, int mib, Duration waited)
            throws IOException {
        requireMounted();
        try (LockedDrive locked = LockedDrive.of(folder, drive)) {
            DriveLease lease = lease(drive, locked)
                    .filter(each -> each.isHeldBy(taker))
                    .orElseThrow(() -> refused(
                            "drive " + drive + ": a later epoch acquired it while " + taker + " waited",
                            "use the later opening"));
            int longest = lease.earlierHolders().stream()
                    .mapToInt(LeaseHolder::seconds)
                    .max()
                    .orElse(0);
            if (waited.compareTo(Duration.ofSeconds(longest)) < 0) {
                return false;
            }
            if (!lease.earlierHolders().isEmpty()) {
                locked.writeLease(lease.withoutEarlier());
            }
            if (!locked.hasImage()) {
                if (mib == 0) {
                    throw new IOException("drive " + drive + ": its image was deleted while the opening waited");
                }
                locked.createImage(mib);
            }
            return true;
        }
    }

    /**
     * Returns whether the holder still has the drive.
     *
     * @return false if a later epoch has acquired it, or it has no holder
     * @throws IOException if that is not known
     */
    public synchronized boolean isHeld(DriveName drive, LeaseHolder holder) throws IOException {
        requireMounted();
        try (LockedDrive locked = LockedDrive.of(folder, drive)) {
            return locked.lease().filter(lease -> lease.isHeldBy(holder)).isPresent();
        }
    }

    /**
     * Releases the drive; call it when nothing of the holder's VM is left. No error if it was released before, or never
     * acquired.
     */
    public synchronized void release(DriveName drive, LeaseHolder holder) throws IOException {
        requireMounted();
        if (!Files.isDirectory(drive.lease(folder).resolveSibling("."))) {
            return;
        }
        try (LockedDrive locked = LockedDrive.of(folder, drive)) {
            Optional<DriveLease> lease = locked.lease();
            if (lease.isPresent() && lease.get().mentions(holder)) {
                locked.writeLease(lease.get().without(holder));
            }
        }
    }

    /**
     * Lists the leases without locking: a file is complete whenever it is read, and a writer reads it again under the
     * lock.
     */
    public Leases leases() throws IOException {
        requireMounted();
        List<NamedLease> named = new ArrayList<>();
        List<String> damaged = new ArrayList<>();
        for (Path project : list(folder)) {
            if (Files.isDirectory(project, LinkOption.NOFOLLOW_LINKS)) {
                for (Path file : list(project)) {
                    name(file).ifPresent(drive -> read(drive, file, named, damaged));
                }
            }
        }
        return new Leases(named, damaged);
    }

    private void read(DriveName drive, Path file, List<NamedLease> named, List<String> damaged) {
        try {
            LockedDrive.read(file)
                    .ifPresent(lease -> Stream.concat(lease.holder().stream(), lease.earlierHolders().stream())
                            .filter(each -> each.host().equals(host))
                            .forEach(each -> named.add(new NamedLease(drive, each))));
        } catch (IOException e) {
            damaged.add(String.valueOf(e.getMessage()));
        }
    }

    private static Optional<DriveName> name(Path lease) {
        String file = lease.getFileName().toString();
        if (!file.endsWith(DriveName.LEASE)) {
            return Optional.empty();
        }
        try {
            return Optional.of(new DriveName(
                    String.valueOf(lease.getName(lease.getNameCount() - 2)),
                    file.substring(0, file.length() - DriveName.LEASE.length())));
        } catch (IllegalArgumentException e) {
            // Not a lease of ours.
            return Optional.empty();
        }
    }

    private static List<Path> list(Path folder) throws IOException {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(folder)) {
            for (Path file : stream) {
                files.add(file);
                if (files.size() > MAX_FILES) {
                    throw new IOException(folder + " has more than " + MAX_FILES + " files");
                }
            }
        } catch (DirectoryIteratorException e) {
            throw new IOException(folder + ": cannot be read: " + e.getMessage(), e);
        }
        return files;
    }

    private void requireMounted() throws IOException {
        if (!Files.isRegularFile(folder.resolve(MARK), LinkOption.NOFOLLOW_LINKS)) {
            throw new IOException("drives: the file " + folder.resolve(MARK)
                    + " is not there; mount the storage of vm.drives, and run agentctl host drives");
        }
    }

    private void makeFolder(DriveName drive) throws IOException {
        Path project = folder.resolve(drive.project());
        try {
            Files.createDirectory(project);
            AtomicFile.syncFolder(folder);
        } catch (FileAlreadyExistsException e) {
            // Created by an earlier opening, on this host or another.
        }
        if (!Files.getPosixFilePermissions(project).equals(PASSABLE)) {
            Files.setPosixFilePermissions(project, PASSABLE);
        }
    }

    private static StartFailed refused(String text, String hint) {
        return new StartFailed(VmRunCode.REFUSED, text, hint);
    }
}
