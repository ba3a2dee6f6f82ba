package org.cloister.vm.controller.drive;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import org.cloister.vm.system.daemon.DaemonAccount;
import org.jspecify.annotations.Nullable;

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
    public Path agentFolder() {
        return daemons().resolve("agent");
    }

    /** slurmctld's state. */
    public Path slurmState() {
        return daemons().resolve("slurm");
    }

    /** MariaDB's data. */
    public Path databaseFolder() {
        return daemons().resolve("mariadb");
    }

    /** nfsdcld's. */
    public Path nfsState() {
        return daemons().resolve("nfs");
    }

    /** Receipts of tickets, for everybody to read: what each signed of itself, and no secret. */
    public Path receipts() {
        return root.resolve("receipts");
    }

    /** The log of what was taken out, for everybody to read: who, when, which path, how many bytes. */
    public Path exportLog() {
        return root.resolve("exports");
    }

    /** {@link org.cloister.vm.controller.unlock.ProjectConfigStore}'s. */
    public Path projectConfigFolder() {
        return agentFolder().resolve("project");
    }

    /**
     * Makes what is missing, and sets modes and owners of what is ours.
     *
     * @param us our own uid: 0 but in tests
     * @param database of MariaDB
     * @param controller of slurmctld; state that the first release left as root's becomes its own
     * @throws IOException if something else stands in a folder's place
     */
    public void createFolders(int us, DaemonAccount database, DaemonAccount controller) throws IOException {
        folder(root, OPEN, us, -1);
        folder(homes(), OPEN, us, -1);
        // Its administrators' to write to as they like, once it is there.
        if (!Files.isDirectory(software(), LinkOption.NOFOLLOW_LINKS)) {
            folder(software(), OPEN, us, -1);
        }
        folder(receipts(), OPEN, us, -1);
        folder(exportLog(), OPEN, us, -1);
        folder(daemons(), PASSABLE, us, -1);
        folder(agentFolder(), CLOSED, us, -1);
        folder(nfsState(), CLOSED, us, -1);
        folder(databaseFolder(), CLOSED, database.uid(), database.gid());
        handOver(slurmState(), controller);
        folder(slurmState(), CLOSED, controller.uid(), controller.gid());
    }

    /**
     * Gives what lies in a folder to the account that is to own it. The folder itself comes last, by {@link #folder}: while it is not
     * the account's, the account cannot change what is walked over, and a walk that was cut short is repeated at the next opening.
     */
    private static void handOver(Path folder, DaemonAccount account) throws IOException {
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS) || owner(folder) == account.uid()) {
            return;
        }
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes found) throws IOException {
                return give(file);
            }

            @Override
            public FileVisitResult postVisitDirectory(Path below, @Nullable IOException failure) throws IOException {
                if (failure != null) {
                    throw failure;
                }
                return below.equals(folder) ? FileVisitResult.CONTINUE : give(below);
            }

            private FileVisitResult give(Path path) throws IOException {
                Files.setAttribute(path, "unix:gid", account.gid(), LinkOption.NOFOLLOW_LINKS);
                Files.setAttribute(path, "unix:uid", account.uid(), LinkOption.NOFOLLOW_LINKS);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static int owner(Path path) throws IOException {
        return (int) requireNonNull(Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS));
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
