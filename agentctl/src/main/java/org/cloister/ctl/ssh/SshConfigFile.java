package org.cloister.ctl.ssh;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.cloister.base.file.AtomicFile;

/** A person's configuration of ssh, into which agentctl puts its blocks. */
final class SshConfigFile {
    private static final int MAX_BYTES = 1 << 20;

    private final Path file;

    /** Names {@code config} in a folder, neither of which need exist. */
    SshConfigFile(Path folder) {
        file = folder.resolve("config");
    }

    /** Returns the configuration of this process's user; ssh, too, reads the home folder from the user database. */
    static SshConfigFile ofUser() {
        return new SshConfigFile(Path.of(System.getProperty("user.home"), ".ssh"));
    }

    /**
     * Puts a block into the file, in the place of the block of the same project and host if there is one. All other
     * lines stay as they are; the file is either the former or the new one whenever the machine stops.
     *
     * @return the file, without links
     */
    Path install(SshConfigBlock block) throws IOException {
        makeFolder();
        Path target = target();
        // One byte is one letter: what others wrote need not be UTF-8, and stays.
        String before = AtomicFile.exists(target)
                ? new String(AtomicFile.read(target, MAX_BYTES), StandardCharsets.ISO_8859_1)
                : "";
        String own = new String(block.text().getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        String after = new SshConfigBlock(block.project(), block.alias(), own).putInto(before, file.toString());
        AtomicFile.replace(target, after.getBytes(StandardCharsets.ISO_8859_1));
        return target;
    }

    private void makeFolder() throws IOException {
        Path folder = file.resolveSibling("");
        try {
            Files.createDirectory(
                    folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(folder)) {
                throw new IOException(folder + ": want a folder, have something else; move it away", e);
            }
        }
    }

    /** Follows links, so that a link to a file elsewhere stays a link. */
    private Path target() throws IOException {
        if (!AtomicFile.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            return file;
        }
        if (!AtomicFile.exists(file)) {
            throw new IOException(file + ": want a file, have a link to " + Files.readSymbolicLink(file)
                    + ", which does not exist; create that file, or delete the link");
        }
        Path target = file.toRealPath();
        if (!Files.isRegularFile(target)) {
            throw new IOException(target + ": want a file, have something else; move it away");
        }
        return target;
    }
}
