package org.cloister.ctl.opening;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;

/**
 * File that records the openings whose VMs were given their keys from here: a line for each, with the opening's id and
 * the serial number of the policy that applied.
 */
record UnlockRecordFile(Path file) {
    private static final Pattern LINE = Pattern.compile("[a-z2-7]{26} [1-9][0-9]{0,16}");
    private static final int MAX_BYTES = 1 << 22;

    boolean isUnlocked(String opening) throws IOException {
        return lines().stream().anyMatch(line -> line.startsWith(opening + " "));
    }

    /** Returns the number of VMs that were given their keys under the policy of this serial number. */
    long countUnlocked(long policy) throws IOException {
        return lines().stream().filter(line -> line.endsWith(" " + policy)).count();
    }

    /** Records an unlock before the keys are given; the record is on disk when this returns. */
    @SuppressWarnings("try") // the lock is declared only to be released
    void recordUnlock(String opening, long policy) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        try (FileChannel channel = FileChannel.open(
                        file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
                var fileLock = channel.lock()) {
            // A last line without a newline belongs to a VM that was given nothing.
            channel.truncate(whole());
            channel.position(channel.size());
            ByteBuffer line = ByteBuffer.wrap((opening + " " + policy + "\n").getBytes(StandardCharsets.US_ASCII));
            while (line.hasRemaining()) {
                channel.write(line);
            }
            channel.force(true);
        }
    }

    private long whole() throws IOException {
        return lines().stream().mapToLong(line -> line.length() + 1L).sum();
    }

    private List<String> lines() throws IOException {
        String text;
        try (InputStream in = Files.newInputStream(file)) {
            text = new String(in.readNBytes(MAX_BYTES), StandardCharsets.US_ASCII);
        } catch (NoSuchFileException e) {
            return List.of();
        }
        List<String> lines = new ArrayList<>();
        text.substring(0, text.lastIndexOf('\n') + 1).lines().forEach(lines::add);
        for (int i = 0; i < lines.size(); i++) {
            if (!LINE.matcher(lines.get(i)).matches()) {
                throw new MalformedException(file + ":" + (i + 1)
                        + ": want an opening and a policy's serial, have another line; which keys this "
                        + "device has sent is not known without it");
            }
        }
        return lines;
    }
}
