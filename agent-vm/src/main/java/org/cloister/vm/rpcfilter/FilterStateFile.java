package org.cloister.vm.rpcfilter;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * File in which a running filter counts its refusals. The filter holds a lock on the file for as long as it runs, so
 * the lock shows whether it runs. agent-vm creates the file, and the filter can neither replace nor remove it.
 */
public final class FilterStateFile {
    /** The file's folder, below agent-vm's folder in {@code /run}. */
    public static final String FOLDER = "slurm-filter";
    /** The file, below agent-vm's folder in {@code /run}. */
    public static final String NAME = FOLDER + "/state";

    static final String END = "end";
    private static final int MAX_BYTES = 16 << 10;
    private static final int MAX_NAMES = 200;
    private static final Pattern LINE = Pattern.compile("([a-z][a-z_]{0,60}) ([0-9]{1,18})");

    private final Path file;

    public FilterStateFile(Path file) {
        this.file = file;
    }

    /** Returns whether a filter holds the lock, which it acquires when it listens. */
    public boolean isRunning() {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
                FileLock lock = channel.tryLock(0, Long.MAX_VALUE, true)) {
            return lock == null;
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Reads the counts of refusals by name since the filter was started.
     *
     * @return empty while the filter is writing, or if the file is something else
     */
    public Optional<Map<String, Long>> readRefusals() throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(MAX_BYTES);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
            while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
                // Reads up to the file's end or the bound.
            }
        }
        return parse(new String(bytes.array(), 0, bytes.position(), StandardCharsets.US_ASCII));
    }

    static Optional<Map<String, Long>> parse(String text) {
        Map<String, Long> counts = new TreeMap<>();
        String[] lines = text.split("\n", -1);
        if (lines.length < 2
                || lines.length - 2 > MAX_NAMES
                || !lines[lines.length - 2].equals(END)
                || !lines[lines.length - 1].isEmpty()) {
            return Optional.empty();
        }
        for (int i = 0; i < lines.length - 2; i++) {
            Matcher match = LINE.matcher(lines[i]);
            if (!match.matches()) {
                return Optional.empty();
            }
            counts.put(match.group(1), Long.parseLong(match.group(2)));
        }
        return Optional.of(counts);
    }

    /** Opens and locks the file on the filter's side, until the process ends. */
    static Writer lock(Path file) throws IOException {
        FileChannel channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
        boolean locked = false;
        try {
            FileLock lock = channel.lock();
            locked = lock.isValid();
            return new Writer(channel);
        } finally {
            if (!locked) {
                channel.close();
            }
        }
    }

    /** Writes the file in place, since the filter may not write to its folder. */
    static final class Writer implements AutoCloseable {
        private final FileChannel channel;
        private String written = "";

        private Writer(FileChannel channel) {
            this.channel = channel;
        }

        void write(String text) throws IOException {
            if (!text.equals(written)) {
                channel.truncate(0);
                ByteBuffer bytes = StandardCharsets.US_ASCII.encode(text);
                for (long at = 0; bytes.hasRemaining(); ) {
                    at += channel.write(bytes, at);
                }
                written = text;
            }
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
