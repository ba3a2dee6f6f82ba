package org.cloister.host.scratch;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.cloister.base.file.AtomicFile;
import org.cloister.host.scratch.ScratchFiles.ScratchFile;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;

/**
 * Folder of the host's scratch files, one for each VM with a scratch disk: created sparse, and erased before its name
 * is removed. Only files with our names are changed. Any thread may call.
 */
public final class ScratchFolder {
    private static final int BLOCK = 1 << 20;
    /** Maximum of files: a host has fewer VMs, and a folder with more is not used by us alone. */
    private static final int MAX_FILES = 8192;

    private final Path folder;
    private final long budget;

    /**
     * @param folder an existing folder that no other program writes to
     * @param budget bytes that all files may use together. Files are sparse: with a budget above the space of the file
     *     system, a VM could find its disk full while it runs
     */
    public ScratchFolder(Path folder, long budget) {
        this.folder = folder;
        this.budget = budget;
    }

    public Path file(ResourceOwner owner) {
        return folder.resolve(ScratchFileName.of(owner));
    }

    /**
     * Creates an empty file, which is on disk when this returns.
     *
     * @param bytes size that the VM will see
     * @throws StartFailed before anything is created
     */
    public synchronized Path make(ResourceOwner owner, long bytes) throws IOException {
        requireSpace(bytes);
        Path file = file(owner);
        try (FileChannel channel = FileChannel.open(
                file,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            lengthen(file, channel, bytes);
        }
        AtomicFile.syncFolder(folder);
        return file;
    }

    /** Extends a file by writing its last byte, since a channel has no other way to do it. */
    private static void lengthen(Path file, FileChannel channel, long bytes) throws IOException {
        try {
            channel.write(ByteBuffer.allocate(1), bytes - 1);
            channel.force(true);
        } catch (IOException e) {
            Files.delete(file);
            throw e;
        }
    }

    private void requireSpace(long bytes) throws IOException {
        if (bytes < 1) {
            throw new IllegalArgumentException("scratch file: want at least 1 byte, have " + bytes);
        }
        long promised = list().bytes();
        if (bytes > budget - promised) {
            throw new StartFailed(
                    VmRunCode.UNAVAILABLE,
                    full(bytes, promised + " of its budget of " + budget + " are promised to other VMs"),
                    "request less scratch, wait for other VMs to end, or raise the folder's budget");
        }
        long usable = Files.getFileStore(folder).getUsableSpace();
        if (bytes > usable) {
            throw new StartFailed(
                    VmRunCode.HOST,
                    full(bytes, "its file system has " + usable),
                    "free space on it, or lower the folder's budget to what is there");
        }
    }

    private String full(long bytes, String reason) {
        return "scratch folder " + folder + ": disk full: a VM needs " + bytes + " bytes, and " + reason;
    }

    /**
     * Lists the folder.
     *
     * @throws IOException also if it has more files than a host ever needs: then its content is unknown
     */
    public ScratchFiles list() throws IOException {
        List<ScratchFile> all = new ArrayList<>();
        Set<String> foreign = new TreeSet<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                if (all.size() + foreign.size() == MAX_FILES) {
                    throw new IOException("scratch folder " + folder + " has more than " + MAX_FILES
                            + " files; use it for this host's VMs only");
                }
                classify(file, all, foreign);
            }
        } catch (DirectoryIteratorException e) {
            throw new IOException("scratch folder " + folder + ": cannot be read: " + e.getMessage(), e);
        }
        return new ScratchFiles(all, foreign);
    }

    private static void classify(Path file, List<ScratchFile> all, Set<String> foreign) throws IOException {
        String name = file.getFileName().toString();
        try {
            BasicFileAttributes attributes =
                    Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            ScratchFileName.parse(name)
                    .filter(owner -> attributes.isRegularFile())
                    .ifPresentOrElse(
                            owner -> all.add(new ScratchFile(owner, attributes.size())), () -> foreign.add(name));
        } catch (NoSuchFileException e) {
            return; // Removed after the folder was read.
        }
    }

    /**
     * Erases a file's content. Its name still exists when this returns, so that the erasure can be recorded before
     * {@link #unlink}. No VM may have it open. After a crash, a repeated call erases the remaining content.
     *
     * @throws NoSuchFileException if there is no file
     */
    public ScratchFileErasure erase(ResourceOwner owner, ErasureMethod method) throws IOException {
        try (FileChannel channel = FileChannel.open(
                file(owner), Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS))) {
            long bytes = channel.size();
            long overwritten = method == ErasureMethod.OVERWRITE ? overwrite(channel, bytes) : 0;
            channel.truncate(0);
            channel.force(true);
            if (channel.size() != 0) {
                throw new IOException("scratch file " + file(owner) + " still has " + channel.size()
                        + " bytes after its erasure; find the process that writes to it");
            }
            return new ScratchFileErasure(owner, method, bytes, overwritten);
        }
    }

    /**
     * Overwrites written blocks. Holes stay holes, since filling them could need more space than the file system has.
     */
    private static long overwrite(FileChannel channel, long bytes) throws IOException {
        ByteBuffer zeros = ByteBuffer.allocateDirect(BLOCK);
        ByteBuffer block = ByteBuffer.allocateDirect(BLOCK);
        long overwritten = 0;
        for (long at = 0; at < bytes; at += BLOCK) {
            int length = (int) Math.min(BLOCK, bytes - at);
            read(channel, block.clear().limit(length), at);
            zeros.clear().limit(length);
            if (block.flip().mismatch(zeros) >= 0) {
                for (long to = at; zeros.hasRemaining(); ) {
                    to += channel.write(zeros, to);
                }
                overwritten += length;
            }
        }
        channel.force(true);
        return overwritten;
    }

    private static void read(FileChannel channel, ByteBuffer block, long from) throws IOException {
        long at = from;
        while (block.hasRemaining()) {
            int read = channel.read(block, at);
            if (read < 0) {
                throw new IOException("scratch file ends at byte " + at + ", " + block.remaining()
                        + " bytes early; find the process that still writes to it");
            }
            at += read;
        }
    }

    /** Removes the file's name; this is on disk when the method returns. No error if it is gone. */
    public void unlink(ResourceOwner owner) throws IOException {
        Files.deleteIfExists(file(owner));
        AtomicFile.syncFolder(folder);
    }
}
