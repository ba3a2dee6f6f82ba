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

/**
 * The drives on storage that several hosts share, and who holds each: {@code PROJECT/NAME.img} with {@code NAME.lease} beside
 * it, which is read and changed under the lock of {@code NAME.lock}. Nothing here compares clocks of two hosts. Any thread may
 * call, of one process's in turn; while the storage hangs, so does the caller.
 */
public final class SharedDrives {
    /** In the folder of all drives, so that a storage that is not mounted is none without drives. */
    public static final String MARK = "cloister-drives";

    private static final Duration LOOK = Duration.ofSeconds(1);
    /** A site has fewer, leases of old projects counted too. */
    private static final int MAX_FILES = 1 << 16;
    /** QEMU comes through as another user. */
    private static final Set<PosixFilePermission> PASSABLE = PosixFilePermissions.fromString("rwx--x--x");

    private final Path folder;
    private final String host;
    private final int seconds;

    /**
     * @param folder of all drives
     * @param host this one's name, as its certificate has it
     * @param age how long a holder here may go on without having looked, {@link LeaseHolder#seconds}
     */
    public SharedDrives(Path folder, String host, Duration age) {
        this.folder = folder;
        this.host = host;
        this.seconds = (int) age.toSeconds();
    }

    /** A drive whose lease names this host. */
    public record NamedLease(DriveName drive, LeaseHolder holder) {}

    /**
     * What lies here.
     *
     * @param damaged leases that nobody can take a drive by, as they are
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

    /** Who this host is to a lease. */
    public LeaseHolder holder(long epoch, String opening) {
        return new LeaseHolder(epoch, host, opening, seconds);
    }

    /**
     * Writes first that the drive is the taker's, and waits then until every earlier holder has let go, or had the time
     * to find out and end its VM. The epoch is used from the first on. Who took it and does not go on has to let go,
     * also when this throws.
     *
     * @param mib of a drive that is made if there is none; 0 if there has to be one
     * @return false if nobody waits any more
     * @throws DriveLeaseRefused if it is another's by as high an epoch or a higher one, also while this waits; or
     *     cannot be had
     */
    public boolean acquire(DriveName drive, LeaseHolder taker, int mib, LeaseWait patience)
            throws DriveLeaseRefused, StorageUnavailable, InterruptedException {
        try {
            return took(drive, taker, mib, patience);
        } catch (IOException e) {
            throw new StorageUnavailable(e);
        }
    }

    private boolean took(DriveName drive, LeaseHolder taker, int mib, LeaseWait patience)
            throws DriveLeaseRefused, IOException, InterruptedException {
        requireThere();
        makeFolder(drive);
        write(drive, taker, mib);
        long beganNs = patience.nowNs();
        while (!isAlone(drive, taker, mib, Duration.ofNanos(patience.nowNs() - beganNs))) {
            if (!patience.pause(LOOK)) {
                return false;
            }
        }
        return true;
    }

    private synchronized void write(DriveName drive, LeaseHolder taker, int mib) throws DriveLeaseRefused, IOException {
        try (LockedDrive locked = LockedDrive.of(folder, drive)) {
            if (mib == 0 && !locked.hasImage()) {
                throw new DriveLeaseRefused(
                        "drive " + drive + ": want " + drive.image(folder) + ", have none",
                        "name a size with the opening to have it made, or put the drive back");
            }
            Optional<DriveLease> lease = lease(drive, locked);
            if (lease.isEmpty()) {
                locked.writeLease(new DriveLease(taker.epoch(), Optional.of(taker), List.of()));
            } else if (!lease.get().isHeldBy(taker)) {
                locked.writeLease(later(drive, lease.get(), taker));
            }
        }
    }

    private static DriveLease later(DriveName drive, DriveLease lease, LeaseHolder taker) throws DriveLeaseRefused {
        if (taker.epoch() <= lease.epoch()) {
            throw new DriveLeaseRefused(
                    "drive " + drive + ": want an epoch above " + lease.epoch() + ", have " + taker.epoch()
                            + lease.holder().map(each -> ", with " + each).orElse(""),
                    "sign an opening with a later epoch");
        }
        try {
            return lease.acquiredBy(taker);
        } catch (IllegalArgumentException e) {
            throw new DriveLeaseRefused(
                    "drive " + drive + ": its lease: " + e.getMessage(),
                    "start agent-host on the hosts that it names, which let go of what does not run");
        }
    }

    /** A lease that does not read is left as it is: it may be all that says that somebody writes to the drive. */
    private Optional<DriveLease> lease(DriveName drive, LockedDrive locked) throws DriveLeaseRefused, IOException {
        try {
            return locked.lease();
        } catch (MalformedException e) {
            throw new DriveLeaseRefused(
                    "drive " + drive + ": lease not read: " + e.getMessage(),
                    "end the drive's VM, see on every host that none runs, and take the file away");
        }
    }

    private synchronized boolean isAlone(DriveName drive, LeaseHolder taker, int mib, Duration waited)
            throws DriveLeaseRefused, IOException {
        requireThere();
        try (LockedDrive locked = LockedDrive.of(folder, drive)) {
            DriveLease lease = lease(drive, locked)
                    .filter(each -> each.isHeldBy(taker))
                    .orElseThrow(() -> new DriveLeaseRefused(
                            "drive " + drive + ": want it for " + taker + ", have it taken by a later epoch meanwhile",
                            "the later opening has it"));
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
                    throw new IOException("drive " + drive + ": taken away while it was waited for");
                }
                locked.createImage(mib);
            }
            return true;
        }
    }

    /**
     * @return false if somebody has it by a later epoch, or nobody has it
     * @throws IOException if that is not known
     */
    public synchronized boolean isHeld(DriveName drive, LeaseHolder holder) throws IOException {
        requireThere();
        try (LockedDrive locked = LockedDrive.of(folder, drive)) {
            return locked.lease().filter(lease -> lease.isHeldBy(holder)).isPresent();
        }
    }

    /** Nothing of the holder's VM is there any more. No error if it has let go already, or never took the drive. */
    public synchronized void release(DriveName drive, LeaseHolder holder) throws IOException {
        requireThere();
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

    /** Without locks: a file is whole whenever it is read, and who changes one reads it again. */
    public Leases leases() throws IOException {
        requireThere();
        List<NamedLease> named = new ArrayList<>();
        List<String> damaged = new ArrayList<>();
        for (Path project : list(folder)) {
            if (Files.isDirectory(project, LinkOption.NOFOLLOW_LINKS)) {
                for (Path file : list(project)) {
                    name(file).ifPresent(drive -> look(drive, file, named, damaged));
                }
            }
        }
        return new Leases(named, damaged);
    }

    private void look(DriveName drive, Path file, List<NamedLease> named, List<String> damaged) {
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
            // Not ours.
            return Optional.empty();
        }
    }

    private static List<Path> list(Path folder) throws IOException {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(folder)) {
            for (Path file : stream) {
                files.add(file);
                if (files.size() > MAX_FILES) {
                    throw new IOException(folder + ": want at most " + MAX_FILES + " files, have more");
                }
            }
        } catch (DirectoryIteratorException e) {
            throw new IOException(folder + ": not read: " + e.getMessage(), e);
        }
        return files;
    }

    private void requireThere() throws IOException {
        if (!Files.isRegularFile(folder.resolve(MARK), LinkOption.NOFOLLOW_LINKS)) {
            throw new IOException(
                    "drives: want the file " + folder.resolve(MARK) + ", have none that can be seen; mount"
                            + " the storage of vm.drives, and make it once on a new one");
        }
    }

    private void makeFolder(DriveName drive) throws IOException {
        Path project = folder.resolve(drive.project());
        try {
            Files.createDirectory(project);
            LockedDrive.sync(folder);
        } catch (FileAlreadyExistsException e) {
            // By an earlier opening, here or elsewhere.
        }
        if (!Files.getPosixFilePermissions(project).equals(PASSABLE)) {
            Files.setPosixFilePermissions(project, PASSABLE);
        }
    }
}
