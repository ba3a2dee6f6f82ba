package org.cloister.vm.drive;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;

/**
 * The folders of a project's drive. Users have {@code home} and {@code software}; what daemons keep lies in folders that
 * their owner alone enters, below one that root alone writes to, so that no export of the drive shows any of it to a worker.
 */
public final class DriveLayout {
    private static final String PASSABLE = "rwx--x--x";
    private static final String OPEN = "rwxr-xr-x";
    private static final String CLOSED = "rwx------";

    private final Path root;

    /** @param root where the drive is mounted */
    public DriveLayout(Path root) {
        this.root = root;
    }

    public Path root() {
        return root;
    }

    public Path homes() {
        return root.resolve("home");
    }

    public Path software() {
        return root.resolve("software");
    }

    /** agent-vm's own: tickets, what was spent, the queue's ledger, the papers that were seen last. */
    public Path agent() {
        return daemons().resolve("agent");
    }

    /** slurmctld's state. */
    public Path slurm() {
        return daemons().resolve("slurm");
    }

    /** MariaDB's data. */
    public Path database() {
        return daemons().resolve("mariadb");
    }

    /** nfsdcld's. */
    public Path nfs() {
        return daemons().resolve("nfs");
    }

    /** Receipts of tickets, for everybody to read: what each signed of itself, and no secret. */
    public Path receipts() {
        return root.resolve("receipts");
    }

    /** The log of what was taken out, for everybody to read: who, when, which path, how many bytes. */
    public Path exports() {
        return root.resolve("exports");
    }

    /** {@link org.cloister.vm.opening.ProjectFolder}'s. */
    public Path project() {
        return agent().resolve("project");
    }

    /**
     * Makes what is missing, and sets modes and owners of what is ours.
     *
     * @param us our own uid: 0 but in tests
     * @param databaseUid of who runs MariaDB, and its group
     * @throws IOException if something else stands in a folder's place
     */
    public void make(int us, int databaseUid, int databaseGid) throws IOException {
        folder(root, OPEN, us, -1);
        folder(homes(), OPEN, us, -1);
        // Its administrators' to write to as they like, once it is there.
        if (!Files.isDirectory(software(), LinkOption.NOFOLLOW_LINKS)) {
            folder(software(), OPEN, us, -1);
        }
        folder(receipts(), OPEN, us, -1);
        folder(exports(), OPEN, us, -1);
        folder(daemons(), PASSABLE, us, -1);
        folder(agent(), CLOSED, us, -1);
        folder(slurm(), CLOSED, us, -1);
        folder(nfs(), CLOSED, us, -1);
        folder(database(), CLOSED, databaseUid, databaseGid);
    }

    private Path daemons() {
        return root.resolve("cloister");
    }

    private static void folder(Path path, String mode, int uid, int gid) throws IOException {
        Set<PosixFilePermission> permissions = PosixFilePermissions.fromString(mode);
        try {
            Files.createDirectory(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(CLOSED)));
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                throw new IOException(path + ": want a folder, have something else; move it away", e);
            }
        }
        Map<String, Object> found = Files.readAttributes(path, "unix:uid,gid", LinkOption.NOFOLLOW_LINKS);
        if (gid >= 0 && (int) requireNonNull(found.get("gid")) != gid) {
            Files.setAttribute(path, "unix:gid", gid, LinkOption.NOFOLLOW_LINKS);
        }
        if ((int) requireNonNull(found.get("uid")) != uid) {
            Files.setAttribute(path, "unix:uid", uid, LinkOption.NOFOLLOW_LINKS);
        }
        Files.setPosixFilePermissions(path, permissions);
    }
}
