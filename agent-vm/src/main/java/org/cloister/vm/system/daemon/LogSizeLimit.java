package org.cloister.vm.system.daemon;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * Limits the size of a file to which a daemon appends: cuts a file that is too long down to its last lines. The daemon
 * continues at the file's end; its output while the file is cut may be lost or appear before the lines that were kept.
 */
final class LogSizeLimit {
    /** Maximum size of each log: some hours of a charon with one peer. */
    static final long MAX_BYTES = 4 << 20;

    private static final int KEPT_BYTES = 1 << 20;

    private LogSizeLimit() {}

    /**
     * Cuts the file if it is longer than {@link #MAX_BYTES}. Does nothing if it does not exist or is not a regular
     * file.
     */
    static void enforce(Path file) throws IOException {
        if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) && Files.size(file) > MAX_BYTES) {
            byte[] last = last(file);
            try (SeekableByteChannel out =
                    Files.newByteChannel(file, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
                out.write(ByteBuffer.wrap(last));
            }
        }
    }

    /** Returns the last whole lines. */
    private static byte[] last(Path file) throws IOException {
        ByteBuffer kept = ByteBuffer.allocate(KEPT_BYTES);
        try (SeekableByteChannel in = Files.newByteChannel(file, StandardOpenOption.READ)) {
            in.position(Math.max(0, in.size() - KEPT_BYTES));
            while (kept.hasRemaining() && in.read(kept) >= 0) {
                // Reads up to the end or the number of bytes kept.
            }
        }
        byte[] bytes = kept.array();
        int from = 0;
        while (from < kept.position() && bytes[from] != '\n') {
            from++;
        }
        int start = from < kept.position() ? from + 1 : 0;
        return Arrays.copyOfRange(bytes, start, kept.position());
    }
}
