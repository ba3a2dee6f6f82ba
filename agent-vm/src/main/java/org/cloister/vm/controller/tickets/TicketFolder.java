package org.cloister.vm.controller.tickets;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketPosition;

/**
 * A folder on the project's drive with one file per ticket of which something may remain, and the highest position that
 * was used. Changes are on the disk when a call returns. Not thread-safe.
 */
public final class TicketFolder {
    private static final String SUFFIX = ".ticket";
    private static final String POSITION = "position";
    private static final String FORMAT = "cloister-vm-position-v1";

    private final Path folder;
    private final long epoch;
    private final Map<String, StoredTicket> tickets;
    private long sequence;

    private TicketFolder(Path folder, long epoch, long sequence, Map<String, StoredTicket> tickets) {
        this.folder = folder;
        this.epoch = epoch;
        this.sequence = sequence;
        this.tickets = tickets;
    }

    /**
     * Opens the folder and reads its tickets.
     *
     * @param folder created if absent
     * @param epoch of this start of the controlling VM; never lower than an earlier one's
     * @throws IOException also if a file in it is malformed, since its ticket may have VMs
     */
    public static TicketFolder open(Path folder, long epoch) throws IOException {
        Files.createDirectories(folder);
        TicketPosition lastPosition = position(folder);
        if (lastPosition.epoch() > epoch) {
            throw new IOException(folder + ": want tickets of an epoch up to " + epoch + ", have those of "
                    + lastPosition.epoch() + "; a newer controlling VM has used this drive");
        }
        Map<String, StoredTicket> tickets = new TreeMap<>();
        for (Path file : files(folder)) {
            StoredTicket stored = read(file);
            tickets.put(stored.id(), stored);
        }
        return new TicketFolder(folder, epoch, lastPosition.epoch() == epoch ? lastPosition.sequence() : 0, tickets);
    }

    /** Returns the next position, which is never used twice, even after a kill. */
    TicketPosition nextPosition() throws IOException {
        sequence++;
        AtomicFile.replace(
                folder.resolve(POSITION),
                JsonNodeFactory.instance
                        .objectNode()
                        .put("format", FORMAT)
                        .put("epoch", epoch)
                        .put("sequence", sequence)
                        .toString()
                        .getBytes(StandardCharsets.UTF_8));
        return new TicketPosition(epoch, sequence);
    }

    /** Returns the epoch of this start. */
    long epoch() {
        return epoch;
    }

    /**
     * Returns whether a ticket was signed by this start; the key that signed an earlier start's tickets no longer
     * exists.
     */
    boolean isOurs(StoredTicket stored) {
        return stored.ticket().epoch() == epoch;
    }

    void write(StoredTicket stored) throws IOException {
        AtomicFile.replace(file(stored.id()), stored.write());
        tickets.put(stored.id(), stored);
    }

    void remove(String ticket) throws IOException {
        Files.deleteIfExists(file(ticket));
        tickets.remove(ticket);
    }

    Optional<StoredTicket> find(String ticket) {
        return Optional.ofNullable(tickets.get(ticket));
    }

    List<StoredTicket> all() {
        return List.copyOf(tickets.values());
    }

    private Path file(String ticket) {
        return folder.resolve(ticket + SUFFIX);
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(file -> file.toString().endsWith(SUFFIX)).toList();
        }
    }

    private static StoredTicket read(Path file) throws IOException {
        try {
            StoredTicket stored = StoredTicket.read(AtomicFile.read(file, StoredTicket.MAX_BYTES));
            if (!file.endsWith(stored.id() + SUFFIX)) {
                throw new MalformedException("id: want the file's name, have " + stored.id());
            }
            return stored;
        } catch (MalformedException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }

    private static TicketPosition position(Path folder) throws IOException {
        Path file = folder.resolve(POSITION);
        if (!Files.exists(file)) {
            return TicketPosition.NONE;
        }
        try {
            StrictJson json = StrictJson.read(AtomicFile.read(file, StoredTicket.MAX_BYTES), StoredTicket.MAX_BYTES);
            json.requireFormat(FORMAT);
            TicketPosition position = new TicketPosition(
                    json.number("epoch", 1, Ticket.MAX_COUNT), json.number("sequence", 1, Ticket.MAX_COUNT));
            json.requireNothingElse();
            return position;
        } catch (MalformedException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }
}
