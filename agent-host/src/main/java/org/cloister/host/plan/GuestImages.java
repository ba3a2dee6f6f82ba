package org.cloister.host.plan;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.image.ImageFile;
import org.cloister.protocol.image.ImageManifest;
import org.jspecify.annotations.Nullable;

/**
 * Guest images of the host, one folder for each, and {@code current}, a link to the one that new VMs boot from. Each
 * file is read completely before the first start from it, and again when the kernel reports a change of it. Any thread
 * may call.
 */
public final class GuestImages {
    private static final String CURRENT = "current";

    private final Path folder;
    private @Nullable CheckedImage checked;

    /**
     * Image that was verified.
     *
     * @param marks stamp of each file, taken before it was read
     */
    private record CheckedImage(GuestImage image, Map<Path, FileStamp> marks) {}

    /**
     * State of a file.
     *
     * @param ctime that no program can set: it changes with the content, the name and the permissions
     */
    private record FileStamp(Object inode, Object size, Object ctime) {}

    public GuestImages(Path folder) {
        this.folder = folder;
    }

    /**
     * Returns the verified current image. VMs that run keep the files that they have open, wherever the link then
     * points.
     *
     * @throws MalformedException if a file does not match the manifest
     */
    public synchronized GuestImage current() throws IOException {
        Path image;
        try {
            image = folder.resolve(CURRENT).toRealPath();
        } catch (NoSuchFileException e) {
            throw new IOException(
                    "image " + folder.resolve(CURRENT) + " is not a link to an image's folder; install an"
                            + " image and link its folder there with ln -s",
                    e);
        }
        ImageManifest manifest = ImageManifest.load(image);
        Map<Path, FileStamp> marks = marks(manifest, image);
        GuestImage found = new GuestImage(manifest, image);
        if (checked == null || !checked.image.equals(found) || !checked.marks.equals(marks)) {
            checked = null;
            List<String> differences = manifest.differences(image);
            if (!differences.isEmpty()) {
                throw new MalformedException("image " + image + ": " + String.join("; ", differences)
                        + "; install it again, and run agentctl image verify");
            }
            checked = new CheckedImage(found, marks);
        }
        return found;
    }

    private static Map<Path, FileStamp> marks(ImageManifest manifest, Path image) throws IOException {
        Map<Path, FileStamp> marks = new HashMap<>();
        for (ImageFile file : manifest.files()) {
            Path path = image.resolve(file.name());
            try {
                marks.put(
                        path,
                        new FileStamp(
                                Files.getAttribute(path, "unix:ino"),
                                Files.getAttribute(path, "unix:size"),
                                Files.getAttribute(path, "unix:ctime")));
            } catch (NoSuchFileException e) {
                throw new IOException(
                        "image " + image + ": " + file.name() + " is missing; install the image again", e);
            }
        }
        return marks;
    }
}
