package org.cloister.host.plan;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.image.ImageFile;
import org.cloister.protocol.image.ImageManifest;

/**
 * Guest images of the host, one folder for each, and {@code current}, a link to the one that new VMs boot from. Each
 * file is read completely before the first start from it, and again when the kernel reports a change of that file:
 * libvirt changes the owner of kernel and initrd at each start, and of nothing else. Any thread may call; threads that
 * need the same file wait for one reading of it, and no thread waits for another file's.
 */
public final class GuestImages {
    private static final String CURRENT = "current";

    private final Path folder;
    private final FileDigests digests;
    /** The newest reading of each file of the images that were asked for last. */
    private final Map<Path, Reading> readings = new ConcurrentHashMap<>();

    /** Comparison of a file with its entry in the manifest. */
    interface FileDigests {
        /** Reads the whole file and describes how it differs; empty if it does not. */
        Optional<String> difference(ImageFile file, Path image) throws IOException;
    }

    /**
     * State of a file.
     *
     * @param ctime that no program can set: it changes with the content, the name, the owner and the permissions
     */
    private record FileStamp(Object inode, Object size, Object ctime) {}

    /**
     * One reading of a file, which the first thread that needs it performs.
     *
     * @param stamp taken before the file is read
     * @param difference from the manifest
     */
    private record Reading(ImageFile file, FileStamp stamp, FutureTask<Optional<String>> difference) {
        boolean isOf(ImageFile other, FileStamp now) {
            return file.equals(other) && stamp.equals(now);
        }
    }

    public GuestImages(Path folder) {
        this(folder, ImageFile::difference);
    }

    GuestImages(Path folder, FileDigests digests) {
        this.folder = folder;
        this.digests = digests;
    }

    /**
     * Returns the verified current image. VMs that run keep the files that they have open, wherever the link then
     * points.
     *
     * @throws MalformedException if a file does not match the manifest
     */
    public GuestImage current() throws IOException, InterruptedException {
        Path image;
        try {
            image = folder.resolve(CURRENT).toRealPath();
        } catch (NoSuchFileException e) {
            throw new IOException(
                    "image " + folder.resolve(CURRENT) + " is not a link to an image's folder; install an"
                            + " image with agentctl image install",
                    e);
        }
        ImageManifest manifest = ImageManifest.load(image);
        List<String> differences = new ArrayList<>();
        Set<Path> paths = new HashSet<>();
        for (ImageFile file : manifest.files()) {
            paths.add(image.resolve(file.name()));
            difference(file, image).ifPresent(differences::add);
        }
        if (!differences.isEmpty()) {
            throw new MalformedException("image " + image + ": " + String.join("; ", differences)
                    + "; install it again, and run agentctl image verify");
        }
        readings.keySet().retainAll(paths);
        return new GuestImage(manifest, image);
    }

    private Optional<String> difference(ImageFile file, Path image) throws IOException, InterruptedException {
        Path path = image.resolve(file.name());
        FileStamp now = stamp(file, image);
        Reading reading = readings.compute(
                path,
                (key, known) -> known != null && known.isOf(file, now)
                        ? known
                        : new Reading(file, now, new FutureTask<>(() -> digests.difference(file, image))));
        boolean matches = false;
        try {
            // It has no effect if another thread reads the file, or has read it.
            reading.difference.run();
            Optional<String> difference = reading.difference.get();
            matches = difference.isEmpty();
            return difference;
        } catch (ExecutionException e) {
            throw new IOException("image " + image + ": " + file.name() + " cannot be read: " + e.getCause(), e);
        } finally {
            if (!matches) {
                readings.remove(path, reading);
            }
        }
    }

    private static FileStamp stamp(ImageFile file, Path image) throws IOException {
        Path path = image.resolve(file.name());
        try {
            return new FileStamp(
                    Files.getAttribute(path, "unix:ino"),
                    Files.getAttribute(path, "unix:size"),
                    Files.getAttribute(path, "unix:ctime"));
        } catch (NoSuchFileException e) {
            throw new IOException("image " + image + ": " + file.name() + " is missing; install the image again", e);
        }
    }
}
