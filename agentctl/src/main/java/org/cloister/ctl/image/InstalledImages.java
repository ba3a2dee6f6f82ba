package org.cloister.ctl.image;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.file.ExclusiveLock;
import org.cloister.protocol.image.ImageFile;
import org.cloister.protocol.image.ImageLayer;
import org.cloister.protocol.image.ImageManifest;

/**
 * Folder of a host's guest images: one folder for each, named by its identity, and the symbolic link {@code current}
 * to the one that new VMs boot from. An image is complete and verified when it has its name. One process at a time
 * holds the folder's lock.
 */
final class InstalledImages implements AutoCloseable {
    private static final String CURRENT = "current";
    private static final String LOCK = ".lock";
    /** Names of what a killed run may leave: no image has a name that begins with a dot. */
    private static final Pattern UNFINISHED = Pattern.compile("\\.(?:[0-9a-f]{96}\\.(?:new|old)|current\\.new)");

    private static final int MAX_MANIFEST = 1 << 20;
    /** Room that stays free beside the image, in bytes. */
    private static final long RESERVE = 64L << 20;

    private static final Set<PosixFilePermission> FOLDER = PosixFilePermissions.fromString("rwxr-xr-x");
    private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-r--r--");

    private final Path folder;
    private final ExclusiveLock lock;

    private InstalledImages(Path folder, ExclusiveLock lock) {
        this.folder = folder;
        this.lock = lock;
    }

    /** Opens the folder, which is created if it does not exist, and removes what a killed run has left in it. */
    static InstalledImages open(Path folder) throws IOException {
        if (!AtomicFile.exists(folder)) {
            Files.createDirectories(folder, PosixFilePermissions.asFileAttribute(FOLDER));
            // The umask may have taken bits away.
            Files.setPosixFilePermissions(folder, FOLDER);
        }
        Path real = folder.toRealPath();
        InstalledImages images =
                new InstalledImages(real, ExclusiveLock.acquire(real.resolve(LOCK), "images in " + real));
        boolean clean = false;
        try {
            images.removeUnfinished();
            clean = true;
        } finally {
            if (!clean) {
                images.close();
            }
        }
        return images;
    }

    Path folder(ImageManifest image) {
        return folder.resolve(image.identity().hex());
    }

    /** Returns the target of the link; empty if there is no link. */
    Optional<String> current() throws IOException {
        Path link = folder.resolve(CURRENT);
        return Files.isSymbolicLink(link)
                ? Optional.of(Files.readSymbolicLink(link).toString())
                : Optional.empty();
    }

    /**
     * Installs an image, unless it is installed already and its files are as the manifest says.
     *
     * @param source folder with the image
     * @param image manifest from there
     * @return false if it was installed already
     */
    boolean install(Path source, ImageManifest image) throws IOException {
        Path target = folder(image);
        if (isWhole(target, image)) {
            settle(target, image);
            return false;
        }
        require(source, image, "have the image copied or built again");
        requireSpace(image);
        Path copy = folder.resolve("." + target.getFileName() + ".new");
        Files.createDirectory(copy, PosixFilePermissions.asFileAttribute(FOLDER));
        Files.setPosixFilePermissions(copy, FOLDER);
        for (ImageFile file : image.files()) {
            copy(source.resolve(file.name()), copy.resolve(file.name()), file.size());
        }
        copy(source.resolve(ImageManifest.FILE_NAME), copy.resolve(ImageManifest.FILE_NAME), MAX_MANIFEST);
        AtomicFile.syncFolder(copy);
        if (!ImageManifest.load(copy).equals(image)) {
            throw new MalformedException(source + ": the manifest changed while it was copied; run the command again");
        }
        require(copy, image, "check the disk below " + folder + ", and run the command again");
        if (AtomicFile.exists(target, LinkOption.NOFOLLOW_LINKS)) {
            // VMs that run have its files open.
            Files.move(target, folder.resolve("." + target.getFileName() + ".old"), StandardCopyOption.ATOMIC_MOVE);
        }
        Files.move(copy, target, StandardCopyOption.ATOMIC_MOVE);
        AtomicFile.syncFolder(folder);
        removeUnfinished();
        return true;
    }

    /** Makes an installed image the current one. */
    void makeCurrent(ImageManifest image) throws IOException {
        Path link = folder.resolve(CURRENT);
        String name = image.identity().hex();
        if (AtomicFile.exists(link, LinkOption.NOFOLLOW_LINKS) && !Files.isSymbolicLink(link)) {
            throw new IOException(link + ": want a symbolic link to the current image, have something else; the image "
                    + "is installed: move " + link + " away and run the command again, or use --keep-current");
        }
        if (current().filter(name::equals).isEmpty()) {
            Path beside = folder.resolve("." + CURRENT + ".new");
            Files.createSymbolicLink(beside, Path.of(name));
            Files.move(beside, link, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            AtomicFile.syncFolder(folder);
        }
    }

    @Override
    public void close() throws IOException {
        lock.close();
    }

    /** Returns whether a folder has that very image. */
    private static boolean isWhole(Path target, ImageManifest image) throws IOException {
        if (!Files.isDirectory(target, LinkOption.NOFOLLOW_LINKS)
                || !AtomicFile.exists(target.resolve(ImageManifest.FILE_NAME))) {
            return false;
        }
        try {
            return ImageManifest.load(target).equals(image)
                    && image.differences(target).isEmpty();
        } catch (MalformedException e) {
            // A damaged manifest is replaced with all of its image.
            return false;
        }
    }

    /**
     * Makes an installed image readable for QEMU's user, and its layers the caller's. An earlier libvirt may have left
     * them to another user. Kernel and initrd are such a user's while a VM runs, and stay so.
     */
    private static void settle(Path target, ImageManifest image) throws IOException {
        UserPrincipal owner = Files.getOwner(Path.of("/proc/self"));
        permit(target, FOLDER);
        for (ImageFile file : image.files()) {
            permit(target.resolve(file.name()), FILE);
        }
        for (ImageLayer layer : image.layers()) {
            Path file = target.resolve(layer.file().name());
            if (!Files.getOwner(file).equals(owner)) {
                Files.setOwner(file, owner);
            }
        }
    }

    /** Changes permissions only if they differ, because agent-host reads each file again whose state changed. */
    private static void permit(Path path, Set<PosixFilePermission> permissions) throws IOException {
        if (!Files.getPosixFilePermissions(path).equals(permissions)) {
            Files.setPosixFilePermissions(path, permissions);
        }
    }

    private static void require(Path image, ImageManifest manifest, String remedy) throws IOException {
        List<String> differences = manifest.differences(image);
        if (!differences.isEmpty()) {
            throw new MalformedException("image " + image + ": " + String.join("; ", differences) + "; " + remedy);
        }
    }

    private void requireSpace(ImageManifest image) throws IOException {
        long bytes = image.files().stream().mapToLong(ImageFile::size).sum() + RESERVE;
        long free = Files.getFileStore(folder).getUsableSpace();
        if (free < bytes) {
            throw new IOException("images in " + folder + ": want " + mib(bytes) + " MiB free for " + image.identity()
                    + ", have " + mib(free) + "; remove images from which no VM runs");
        }
    }

    private static long mib(long bytes) {
        return bytes >> 20;
    }

    private static void copy(Path from, Path to, long max) throws IOException {
        try (FileChannel in = FileChannel.open(from, StandardOpenOption.READ);
                FileChannel out = FileChannel.open(to, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            Files.setPosixFilePermissions(to, FILE);
            long size = Math.min(in.size(), max);
            long done = 0;
            long step = 1;
            while (done < size && step > 0) {
                step = in.transferTo(done, size - done, out);
                done += step;
            }
            out.force(true);
        }
    }

    private void removeUnfinished() throws IOException {
        try (DirectoryStream<Path> unfinished = Files.newDirectoryStream(
                folder,
                each -> UNFINISHED.matcher(each.getFileName().toString()).matches())) {
            for (Path each : unfinished) {
                remove(each);
            }
        } catch (DirectoryIteratorException e) {
            throw new IOException(folder + ": cannot be read: " + e.getMessage(), e);
        }
    }

    private static void remove(Path unfinished) throws IOException {
        if (Files.isDirectory(unfinished, LinkOption.NOFOLLOW_LINKS)) {
            try (Stream<Path> files = Files.list(unfinished)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
        }
        Files.delete(unfinished);
    }
}
