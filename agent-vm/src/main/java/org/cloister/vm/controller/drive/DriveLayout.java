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
 * The folders of a project's drive. Users have {@code home} and {@code software}. Daemons keep their data in folders
 * that only their owner can enter, below one that only root can write to, so that no export of the drive shows it to a
 * worker.
 */
public final class DriveLayout {
    private static final String PASSABLE = "rwx--x--x";
    private static final String OPEN = "rwxr-xr-x";
    private static final String CLOSED = "rwx------";

    private final Path root;

    /** @param root mount point of the drive */
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

    /**
     * Returns agent-vm's own folder: tickets, spent slots, the queue journal, the project documents seen last, and the
     * end report.
     */
    public Path agentFolder() {
        return daemons().resolve("agent");
    }

    /** Returns the folder of slurmctld's state. */
    public Path slurmState() {
        return daemons().resolve("slurm");
    }

    /** Returns the folder of MariaDB's data. */
    public Path databaseFolder() {
        return daemons().resolve("mariadb");
    }

    /** Returns the folder of nfsdcld. */
    public Path nfsState() {
        return daemons().resolve("nfs");
    }

    /** Returns the folder of receipts, readable by all: what each signer stated about itself, without secrets. */
    public Path receipts() {
        return root.resolve("receipts");
    }

    /** Returns the folder of the export log, readable by all: who, when, which path, how many bytes. */
    public Path exportLog() {
        return root.resolve("exports");
    }

    /** Returns the folder of {@link org.cloister.vm.controller.unlock.ProjectConfigStore}. */
    public Path projectConfigFolder() {
        return agentFolder().resolve("project");
    }

    /**
     * Creates missing folders, and sets the modes and owners of all except an existing software folder.
     *
     * @param ownUid own UID: 0 except in tests
     * @param database account of MariaDB
     * @param controller account of slurmctld; state that the first release left to root is given to it
     * @throws IOException if something other than a folder is in the place of one
     */
    public void createFolders(int ownUid, DaemonAccount database, DaemonAccount controller) throws IOException {
        folder(root, OPEN, ownUid, -1);
        folder(homes(), OPEN, ownUid, -1);
        // Once it exists, its administrators may change it as they like.
        if (!Files.isDirectory(software(), LinkOption.NOFOLLOW_LINKS)) {
            folder(software(), OPEN, ownUid, -1);
        }
        folder(receipts(), OPEN, ownUid, -1);
        folder(exportLog(), OPEN, ownUid, -1);
        folder(daemons(), PASSABLE, ownUid, -1);
        folder(agentFolder(), CLOSED, ownUid, -1);
        folder(nfsState(), CLOSED, ownUid, -1);
        folder(databaseFolder(), CLOSED, database.uid(), database.gid());
        changeOwners(slurmState(), controller);
        folder(slurmState(), CLOSED, controller.uid(), controller.gid());
    }

    /**
     * Changes the owner of a folder's content. The folder itself comes last, by {@link #folder}: while it does not
     * belong to the account, the account cannot change the tree during the walk, and an interrupted walk is repeated at
     * the next opening.
     */
    private static void changeOwners(Path folder, DaemonAccount account) throws IOException {
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS) || owner(folder) == account.uid()) {
            return;
        }
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                return changeOwner(file);
            }

            @Override
            public FileVisitResult postVisitDirectory(Path below, @Nullable IOException failure) throws IOException {
                if (failure != null) {
                    throw failure;
                }
                return below.equals(folder) ? FileVisitResult.CONTINUE : changeOwner(below);
            }

            private FileVisitResult changeOwner(Path path) throws IOException {
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
        Map<String, Object> attributes = Files.readAttributes(path, "unix:uid,gid", LinkOption.NOFOLLOW_LINKS);
        if (gid >= 0 && (int) requireNonNull(attributes.get("gid")) != gid) {
            Files.setAttribute(path, "unix:gid", gid, LinkOption.NOFOLLOW_LINKS);
        }
        if ((int) requireNonNull(attributes.get("uid")) != uid) {
            Files.setAttribute(path, "unix:uid", uid, LinkOption.NOFOLLOW_LINKS);
        }
        Files.setPosixFilePermissions(path, permissions);
    }
}
