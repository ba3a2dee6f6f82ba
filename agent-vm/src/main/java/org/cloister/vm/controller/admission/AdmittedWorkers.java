package org.cloister.vm.controller.admission;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;

/**
 * Records the workers that received a hand-over, in a folder on the project's drive with one file per worker. The file
 * is written before the worker receives anything, so a reopened controlling VM knows every worker that may reconnect,
 * and its key. Not thread-safe.
 */
public final class AdmittedWorkers {
    private static final String SUFFIX = ".guest";

    private final Path folder;
    private final Map<String, Map<Integer, AdmittedWorker>> guests;

    private AdmittedWorkers(Path folder, Map<String, Map<Integer, AdmittedWorker>> guests) {
        this.folder = folder;
        this.guests = guests;
    }

    /**
     * Opens the folder and reads its records.
     *
     * @param folder created if absent
     * @throws IOException also if a record is malformed: it would be unknown which workers may reconnect
     */
    public static AdmittedWorkers open(Path folder) throws IOException {
        Files.createDirectories(folder);
        AdmittedWorkers book = new AdmittedWorkers(folder, new HashMap<>());
        for (Path file : files(folder)) {
            book.put(read(file));
        }
        return book;
    }

    Optional<AdmittedWorker> find(String ticket, int slot) {
        return Optional.ofNullable(guests.getOrDefault(ticket, Map.of()).get(slot));
    }

    /** Records a worker; the record is on the disk on return. */
    void write(AdmittedWorker guest) throws IOException {
        AtomicFile.replace(folder.resolve(name(guest)), guest.write());
        put(guest);
    }

    /** Deletes the records of a ticket that has ended; its workers cannot be readmitted. */
    void forget(String ticket) throws IOException {
        for (AdmittedWorker guest :
                List.copyOf(guests.getOrDefault(ticket, Map.of()).values())) {
            Files.deleteIfExists(folder.resolve(name(guest)));
        }
        guests.remove(ticket);
    }

    private void put(AdmittedWorker guest) {
        guests.computeIfAbsent(guest.ticket(), ticket -> new TreeMap<>()).put(guest.slot(), guest);
    }

    private static String name(AdmittedWorker guest) {
        return guest.ticket() + "-" + guest.slot() + SUFFIX;
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(file -> file.toString().endsWith(SUFFIX)).toList();
        }
    }

    private static AdmittedWorker read(Path file) throws IOException {
        try {
            AdmittedWorker guest = AdmittedWorker.read(AtomicFile.read(file, AdmittedWorker.MAX_BYTES));
            if (!file.endsWith(name(guest))) {
                throw new MalformedException("ticket: want the file's name, have " + name(guest));
            }
            return guest;
        } catch (MalformedException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }
}
