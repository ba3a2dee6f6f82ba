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
 * Workers that were handed over to: a folder on the project's drive, with a file for each. Who is in it was written before it
 * was given anything, so a controlling VM that is opened anew knows all who may come back, and each by its key. Not for
 * several threads.
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
     * @param folder is made if it is not there
     * @throws IOException also if a file in it is none of ours: who may come back is not known then
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

    /** On the disk when it returns. */
    void write(AdmittedWorker guest) throws IOException {
        AtomicFile.replace(folder.resolve(name(guest)), guest.write());
        put(guest);
    }

    /** Of a ticket that has ended: none of its workers comes back. */
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
