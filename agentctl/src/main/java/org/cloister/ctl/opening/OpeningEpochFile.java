package org.cloister.ctl.opening;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.protocol.ticket.Ticket;

/**
 * File with the highest epoch of any opening that was signed here, a decimal number on one line. Each epoch is used
 * once, whether or not the opening succeeds.
 */
record OpeningEpochFile(Path file) {
    private static final Pattern FORM = Pattern.compile("[1-9][0-9]{0,15}\n");
    private static final int MAX_BYTES = 17;

    /**
     * Allocates an epoch; it is on disk when this returns.
     *
     * @param minimum the epoch to use; 0 for the one after the highest
     */
    @SuppressWarnings("try") // open resources are declared only to be closed
    long allocate(long minimum) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Path beside = file.resolveSibling(file.getFileName() + ".lock");
        try (FileChannel lock = FileChannel.open(beside, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                var fileLock = lock.lock()) {
            long highest = highest();
            long next = minimum == 0 ? highest + 1 : minimum;
            if (next <= highest || next > Ticket.MAX_COUNT) {
                throw new MalformedException("epoch: want one after " + highest + " and at most " + Ticket.MAX_COUNT
                        + ", have " + next + "; " + file + " has the highest that was used here");
            }
            AtomicFile.replace(file, (next + "\n").getBytes(StandardCharsets.US_ASCII));
            return next;
        }
    }

    /** Replaces the stored epoch; the new one is on disk when this returns. */
    void store(long epoch) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        AtomicFile.replace(file, (epoch + "\n").getBytes(StandardCharsets.US_ASCII));
    }

    /** Returns the highest epoch used here; 0 if there was none. */
    long highest() throws IOException {
        String text;
        try (InputStream in = Files.newInputStream(file)) {
            text = new String(in.readNBytes(MAX_BYTES + 1), StandardCharsets.US_ASCII);
        } catch (NoSuchFileException e) {
            return 0;
        }
        if (!FORM.matcher(text).matches()) {
            throw new MalformedException(
                    file + ": want the highest epoch that was used here, have something else; delete the "
                            + "file, and give --epoch as the relay's refusal then states");
        }
        return Long.parseLong(text.strip());
    }
}
