package org.cloister.vm.controller.members;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import org.cloister.vm.system.users.ProjectMember;

/**
 * Members' homes on the project's storage. Only agent-vm may write to the folder of homes and to its parent, so that no
 * link can be placed where it creates or changes something. Anything that exists and is not as required is left
 * unchanged.
 */
public final class MemberHomes {
    private static final String OPEN = "rwxr-xr-x";
    private static final String CLOSED = "rwx------";
    private static final FileAttribute<Set<PosixFilePermission>> PRIVATE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(CLOSED));

    /** A link counts as itself, not as a folder. */
    private record Found(int owner, int mode, boolean folder) {
        static Found at(Path path) throws IOException {
            Map<String, Object> found =
                    Files.readAttributes(path, "unix:uid,mode,isDirectory", LinkOption.NOFOLLOW_LINKS);
            return new Found(
                    (int) requireNonNull(found.get("uid")), (int) requireNonNull(found.get("mode")) & 0777, (boolean)
                            requireNonNull(found.get("isDirectory")));
        }
    }

    private final Path folder;
    private final int ownUid;

    /**
     * @param folder of all homes; created if absent, in an existing folder
     * @param ownUid own UID: 0 except in tests
     */
    public MemberHomes(Path folder, int ownUid) {
        this.folder = folder;
        this.ownUid = ownUid;
    }

    /**
     * Creates a folder beside that of the homes, for data that all jobs read, such as software. The administrators of
     * an existing one may change it as they like.
     *
     * @throws IOException if it is not a folder, or others may write to its parent
     */
    public void createSharedFolder(String name) throws IOException {
        Path parent = parent();
        requireOurs(parent);
        Path shared = parent.resolve(name);
        try {
            Files.createDirectory(shared);
            setMode(shared, OPEN);
        } catch (FileAlreadyExistsException e) {
            if (!Found.at(shared).folder) {
                throw new IOException(shared + ": want a folder, have something else; remove it", e);
            }
        }
    }

    /**
     * Creates the home with mode 0700, or finds it; the owner may change the mode of an existing one.
     *
     * @throws IOException if it has another owner, is not a folder, or others may write to a folder above it
     */
    public void createHome(ProjectMember member) throws IOException {
        requireOurs(parent());
        try {
            Files.createDirectory(folder);
            setMode(folder, OPEN);
        } catch (FileAlreadyExistsException e) {
            // Checked next.
        }
        requireOurs(folder);
        Path home = folder.resolve(member.login());
        try {
            Files.createDirectory(home, PRIVATE);
        } catch (FileAlreadyExistsException e) {
            // It may be incomplete, without its owner yet.
        }
        changeOwner(home, member);
    }

    private Path parent() throws IOException {
        Path parent = folder.toAbsolutePath().getParent();
        if (parent == null) {
            throw new IOException(folder + ": want a folder below another one");
        }
        return parent;
    }

    private void changeOwner(Path home, ProjectMember member) throws IOException {
        Found found = Found.at(home);
        if (!found.folder) {
            throw new IOException("home " + home + ": want a folder, have something else; remove it");
        }
        if (found.owner == member.uid()) {
            return;
        }
        if (found.owner != ownUid || !isEmpty(home)) {
            throw new IOException(
                    "home " + home + ": want owner " + member.uid() + " or an empty one of ours, have owner "
                            + found.owner + "; chown it if it is " + member.login() + "'s");
        }
        setMode(home, CLOSED);
        Files.setAttribute(home, "unix:gid", member.gid(), LinkOption.NOFOLLOW_LINKS);
        Files.setAttribute(home, "unix:uid", member.uid(), LinkOption.NOFOLLOW_LINKS);
    }

    private void requireOurs(Path path) throws IOException {
        Found found = Found.at(path);
        if (!found.folder || found.owner != ownUid || (found.mode & 0022) != 0) {
            throw new IOException(path + ": want a folder that uid " + ownUid + " alone writes to, have owner "
                    + found.owner + " and mode " + Integer.toOctalString(found.mode) + "; chown or chmod it");
        }
    }

    private static void setMode(Path path, String mode) throws IOException {
        Files.getFileAttributeView(path, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                .setPermissions(PosixFilePermissions.fromString(mode));
    }

    private static boolean isEmpty(Path home) throws IOException {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(home)) {
            return !entries.iterator().hasNext();
        }
    }
}
