package org.cloister.host.ticket;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.protocol.identity.WholeFile;
import org.cloister.protocol.policy.Policy;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefused;

/**
 * The highest epoch of each project that this host has started a VM for: a controlling VM that was left behind starts no
 * more. On disk before a call returns. Any thread may call.
 */
public final class EpochBook {
    /** A line each: the project's id, a blank, the epoch. */
    private static final Pattern LINE = Pattern.compile("([a-z2-7]{52}) ([1-9][0-9]{0,15})");

    private static final int MAX_PROJECTS = 1 << 16;
    private static final int MAX_BYTES = MAX_PROJECTS * 70;

    private final Path file;
    private final Map<String, Long> epochs;

    private EpochBook(Path file, Map<String, Long> epochs) {
        this.file = file;
        this.epochs = epochs;
    }

    /** @throws IOException if it cannot be read, or is not what this program writes */
    public static EpochBook open(Path file) throws IOException {
        Map<String, Long> epochs = new TreeMap<>();
        try {
            long size = Files.size(file);
            if (size > MAX_BYTES) {
                throw new IOException(file + ": want at most " + MAX_BYTES + " bytes, have " + size);
            }
            for (String line : Files.readAllLines(file, StandardCharsets.US_ASCII)) {
                Matcher form = LINE.matcher(line);
                if (!form.matches()
                        || !Policy.PROJECT.matcher(form.group(1)).matches()
                        || Long.parseLong(form.group(2)) > Ticket.MAX_COUNT
                        || epochs.put(form.group(1), Long.parseLong(form.group(2))) != null) {
                    throw new IOException(file + ": want a project and its epoch in each line, each once, have another"
                            + " one in line " + (epochs.size() + 1) + "; restore the file, or take it away if every"
                            + " project's controlling VM was opened since");
                }
            }
        } catch (NoSuchFileException e) {
            // A host's first start.
            return new EpochBook(file, epochs);
        }
        return new EpochBook(file, epochs);
    }

    /** @return 0 for a project that is new here */
    public synchronized long of(String project) {
        return epochs.getOrDefault(project, 0L);
    }

    /**
     * Before anything is made of the ticket's VM.
     *
     * @throws TicketRefused if a higher one came meanwhile
     * @throws IOException if it is not on disk; then it may have been written or not
     */
    public synchronized void raise(Ticket ticket) throws IOException {
        long highest = of(ticket.project());
        if (ticket.epoch() < highest) {
            throw new TicketRefused(
                    TicketClause.SEQUENCE,
                    "ticket " + ticket.id(),
                    "epoch " + highest + " or later",
                    Long.toString(ticket.epoch()),
                    "a newer life of the controlling VM has asked since; it signs a new ticket");
        }
        if (ticket.epoch() > highest) {
            write(ticket.project(), ticket.epoch());
        }
    }

    private void write(String project, long epoch) throws IOException {
        Map<String, Long> next = new TreeMap<>(epochs);
        next.put(project, epoch);
        if (next.size() > MAX_PROJECTS) {
            throw new IOException(file + ": want at most " + MAX_PROJECTS + " projects, have one more");
        }
        StringBuilder text = new StringBuilder();
        next.forEach(
                (each, number) -> text.append(each).append(' ').append(number).append('\n'));
        WholeFile.replace(file, text.toString().getBytes(StandardCharsets.US_ASCII));
        epochs.put(project, epoch);
    }
}
