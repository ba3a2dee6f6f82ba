package org.cloister.lab.localslurm;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Stores the requested tickets, one file each, written atomically: one instance reads what an earlier one wrote. */
final class RequestedTicketFiles {
    private static final Pattern TICKET = Pattern.compile("[a-z2-7]{26}");
    private static final String COUNT = "count";

    private final Path folder;
    private final ObjectMapper json = new ObjectMapper();

    RequestedTicketFiles(Path folder) throws IOException {
        this.folder = Files.createDirectories(folder);
    }

    /** Returns all tickets in the order of requests; those that are removed meanwhile may be missing. */
    List<RequestedTicket> all() throws IOException {
        List<RequestedTicket> all = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                if (TICKET.matcher(file.getFileName().toString()).matches()) {
                    read(file).ifPresent(all::add);
                }
            }
        }
        all.sort(Comparator.comparingLong(RequestedTicket::place));
        return all;
    }

    Optional<RequestedTicket> find(String ticket) throws IOException {
        return read(file(ticket));
    }

    void write(RequestedTicket ticket) throws IOException {
        write(file(ticket.ticket()), json.writeValueAsString(ticket));
    }

    void remove(String ticket) throws IOException {
        Files.deleteIfExists(file(ticket));
    }

    /** Returns the first of the next {@code many} numbers, which are never allocated again. */
    int allocateNumbers(int many) throws IOException {
        Path file = folder.resolve(COUNT);
        int next = Files.exists(file) ? Integer.parseInt(Files.readString(file)) : 0;
        write(file, Integer.toString(next + many));
        return next;
    }

    private Optional<RequestedTicket> read(Path file) throws IOException {
        try {
            return Optional.of(json.readValue(Files.readString(file), RequestedTicket.class));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    private Path file(String ticket) {
        if (!TICKET.matcher(ticket).matches()) {
            throw new IllegalArgumentException("ticket: want " + TICKET + ", have " + ticket);
        }
        return folder.resolve(ticket);
    }

    private static void write(Path file, String text) throws IOException {
        Path next = file.resolveSibling("." + file.getFileName());
        Files.writeString(next, text);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }
}
