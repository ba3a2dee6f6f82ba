package org.cloister.base.file;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.Set;

/** Files that are readable by their owner only, and either complete or absent whenever the machine stops. */
public final class AtomicFile {
    private static final FileAttribute<Set<PosixFilePermission>> PRIVATE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private AtomicFile() {}

    /** Replaces a file; when this returns, content and name are on the disk. */
    public static void replace(Path file, byte[] content) throws IOException {
        Path beside = beside(file);
        write(beside, content);
        Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        sync(file);
    }

    /**
     * Replaces a file and makes another user its owner, as root may.
     *
     * @param owner may own the folder too: nothing here follows a link that this user could put there
     */
    public static void replace(Path file, byte[] content, UserPrincipal owner) throws IOException {
        Path beside = beside(file);
        write(beside, content);
        Files.getFileAttributeView(beside, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                .setOwner(owner);
        Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        sync(file);
    }

    /**
     * Replaces the content of another program's file, whose owner, group and mode stay. A symbolic link stays, too: the
     * file that it names is replaced.
     */
    public static void rewrite(Path file, byte[] content) throws IOException {
        Path real = file.toRealPath();
        PosixFileAttributes present = Files.readAttributes(real, PosixFileAttributes.class);
        Path beside = beside(real);
        write(beside, content);
        PosixFileAttributeView view =
                Files.getFileAttributeView(beside, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
        view.setGroup(present.group());
        view.setOwner(present.owner());
        view.setPermissions(present.permissions());
        Files.move(beside, real, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        sync(real);
    }

    /**
     * Creates a file.
     *
     * @throws java.nio.file.FileAlreadyExistsException if there is one of that name, which stays unchanged
     */
    public static void create(Path file, byte[] content) throws IOException {
        Path beside = beside(file);
        try {
            write(beside, content);
            try {
                Files.createLink(file, beside);
            } catch (FileAlreadyExistsException e) {
                throw e;
            } catch (FileSystemException | UnsupportedOperationException e) {
                claim(file, beside);
            }
        } finally {
            Files.deleteIfExists(beside);
        }
        sync(file);
    }

    /**
     * Creates the file on a file system without links, as on many USB sticks: a kill in between leaves an empty file,
     * never a part of one.
     */
    static void claim(Path file, Path beside) throws IOException {
        Files.createFile(file, PRIVATE);
        boolean moved = false;
        try {
            Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            moved = true;
        } finally {
            if (!moved) {
                Files.deleteIfExists(file);
            }
        }
    }

    /**
     * Returns whether a file exists.
     *
     * @throws IOException if that cannot be determined, which {@link Files#exists} reports as absent
     */
    public static boolean exists(Path file, LinkOption... links) throws IOException {
        try {
            return Files.readAttributes(file, BasicFileAttributes.class, links) != null;
        } catch (NoSuchFileException e) {
            requireFolder(file);
            return false;
        }
    }

    /** Java 25 calls absent, too, what lies below something that is no folder; 17 and 21 say so. */
    private static void requireFolder(Path file) throws IOException {
        Path parent = file.toAbsolutePath().getParent();
        if (parent != null
                && exists(parent)
                && !Files.readAttributes(parent, BasicFileAttributes.class).isDirectory()) {
            throw new FileSystemException(file.toString(), null, "Not a directory: " + parent);
        }
    }

    /**
     * Reads a file.
     *
     * @throws IOException also if it has more than {@code most} bytes
     */
    public static byte[] read(Path file, int most) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(most + 1);
            if (bytes.length > most) {
                throw new IOException(file + ": want at most " + most + " bytes, have more");
            }
            return bytes;
        }
    }

    private static Path beside(Path file) {
        return file.resolveSibling(file.getFileName() + ".new");
    }

    /**
     * Writes a new file, and deletes first what a kill left, or a link to elsewhere. That may be a hard link to the
     * complete file, so nothing opens it.
     */
    private static void write(Path file, byte[] content) throws IOException {
        Files.deleteIfExists(file);
        try (FileChannel channel =
                FileChannel.open(file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), PRIVATE)) {
            ByteBuffer bytes = ByteBuffer.wrap(content);
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        }
    }

    /** Syncs the folder, which contains the name. */
    private static void sync(Path file) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        if (folder != null) {
            syncFolder(folder);
        }
    }

    /** Writes a folder's names to the disk: files that were created, renamed or deleted in it. */
    public static void syncFolder(Path folder) throws IOException {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }
}
