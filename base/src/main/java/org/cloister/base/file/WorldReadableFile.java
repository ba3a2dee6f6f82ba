package org.cloister.base.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Files that all users may read, complete at any moment. A symbolic link in their place is replaced, not followed. */
public final class WorldReadableFile {
    private WorldReadableFile() {}

    /**
     * Replaces a file; when this returns, the content is on the disk. Uses the name with a dot in front and
     * {@code .new} behind for the new file.
     */
    public static void replace(Path file, byte[] content) throws IOException {
        Path beside = file.resolveSibling("." + file.getFileName() + ".new");
        Files.deleteIfExists(beside);
        try (FileChannel channel =
                FileChannel.open(beside, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE))) {
            // Set after creation, since the umask is unknown, and never on a link's target.
            Files.getFileAttributeView(beside, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .setPermissions(PosixFilePermissions.fromString("rw-r--r--"));
            ByteBuffer bytes = ByteBuffer.wrap(content);
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        }
        Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
