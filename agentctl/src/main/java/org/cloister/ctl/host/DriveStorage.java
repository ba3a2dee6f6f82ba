package org.cloister.ctl.host;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.EnumSet;
import java.util.Set;
import org.cloister.base.file.AtomicFile;
import org.cloister.preflight.DriveStorageCheck;

/**
 * Top folder of the storage of drives: agent-host owns it, QEMU's user may pass through it, and a file marks it as
 * mounted.
 *
 * @param owner agent-host's user
 * @param group of that user
 */
record DriveStorage(Path folder, UserPrincipal owner, GroupPrincipal group) {
    /** Made by mkfs at the top of a new file system. */
    private static final String LOST_AND_FOUND = "lost+found";

    private static final Set<PosixFilePermission> PASSABLE = PosixFilePermissions.fromString("rwx--x--x");

    /** Makes the folder, unless it is there, and gives it to agent-host. */
    void prepare() throws IOException {
        if (!AtomicFile.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
            Path parent = folder.getParent();
            if (parent != null) {
                Files.createDirectories(
                        parent, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
            }
            Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(PASSABLE));
        }
        PosixFileAttributeView view =
                Files.getFileAttributeView(folder, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
        PosixFileAttributes present = view.readAttributes();
        if (!present.isDirectory()) {
            throw new IOException(folder + ": want a folder, have a link or a file; name another");
        }
        if (!present.owner().equals(owner)) {
            requireEmpty(present.owner());
            give(view);
        }
        Set<PosixFilePermission> permissions = EnumSet.copyOf(present.permissions());
        permissions.addAll(PASSABLE);
        permissions.remove(PosixFilePermission.GROUP_WRITE);
        permissions.remove(PosixFilePermission.OTHERS_WRITE);
        if (!permissions.equals(present.permissions())) {
            view.setPermissions(permissions);
        }
    }

    /**
     * Puts the mark into the folder.
     *
     * @return false if it is there
     */
    boolean mark() throws IOException {
        Path mark = folder.resolve(DriveStorageCheck.MARK);
        if (AtomicFile.exists(mark, LinkOption.NOFOLLOW_LINKS)) {
            if (!Files.isRegularFile(mark, LinkOption.NOFOLLOW_LINKS)) {
                throw new IOException(mark + ": want a regular file, have something else; remove it");
            }
            return false;
        }
        Files.createFile(mark, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r--r--")));
        AtomicFile.syncFolder(folder);
        return true;
    }

    private void give(PosixFileAttributeView view) throws IOException {
        try {
            view.setOwner(owner);
            view.setGroup(group);
        } catch (IOException e) {
            throw new IOException(
                    folder + ": cannot be given to " + owner.getName() + ": " + e.getMessage()
                            + "; run this command as root, and export NFS with no_root_squash for this host",
                    e);
        }
    }

    /** An owner's data must not become agent-host's, nor agent-host's on other hosts another account's. */
    private void requireEmpty(UserPrincipal present) throws IOException {
        try (DirectoryStream<Path> content = Files.newDirectoryStream(
                folder, each -> !String.valueOf(each.getFileName()).equals(LOST_AND_FOUND))) {
            for (Path each : content) {
                throw new IOException(
                        folder + ": want a folder of " + owner.getName() + " or an empty one, have one of "
                                + present.getName() + " with " + each.getFileName()
                                + "; name another, or see Accounts in docs/operations.md");
            }
        } catch (DirectoryIteratorException e) {
            throw new IOException(folder + ": cannot be read: " + e.getMessage(), e);
        }
    }
}
