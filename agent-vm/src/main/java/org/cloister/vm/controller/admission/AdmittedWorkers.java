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
 * and its key. Methods that write or delete files are called by one thread, the others by another.
 */
public final class AdmittedWorkers {
    private static final String SUFFIX = ".guest";

    private final Path folder;
    private final Map<String, Map<Integer, AdmittedWorker>> workers;

    private AdmittedWorkers(Path folder, Map<String, Map<Integer, AdmittedWorker>> workers) {
        this.folder = folder;
        this.workers = workers;
    }

    /**
     * Opens the folder and reads its records.
     *
     * @param folder created if absent
     * @throws IOException also if a record is malformed: it would be unknown which workers may reconnect
     */
    public static AdmittedWorkers open(Path folder) throws IOException {
        Files.createDirectories(folder);
        AdmittedWorkers opened = new AdmittedWorkers(folder, new HashMap<>());
        for (Path file : files(folder)) {
            opened.add(read(file));
        }
        return opened;
    }

    Optional<AdmittedWorker> find(String ticket, int slot) {
        return Optional.ofNullable(workers.getOrDefault(ticket, Map.of()).get(slot));
    }

    /** Writes the file of a worker; it is on the disk on return. */
    void write(AdmittedWorker worker) throws IOException {
        AtomicFile.replace(folder.resolve(name(worker)), worker.write());
    }

    /** Deletes the files of a ticket that has ended. */
    void delete(String ticket) throws IOException {
        for (Path file : files(folder)) {
            if (String.valueOf(file.getFileName()).startsWith(ticket + "-")) {
                Files.deleteIfExists(file);
            }
        }
    }

    /** Removes the workers of a ticket that has ended from memory; they cannot be readmitted. */
    void forget(String ticket) {
        workers.remove(ticket);
    }

    /** Adds a worker whose file was written. */
    void add(AdmittedWorker worker) {
        workers.computeIfAbsent(worker.ticket(), ticket -> new TreeMap<>()).put(worker.slot(), worker);
    }

    private static String name(AdmittedWorker worker) {
        return worker.ticket() + "-" + worker.slot() + SUFFIX;
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(file -> file.toString().endsWith(SUFFIX)).toList();
        }
    }

    private static AdmittedWorker read(Path file) throws IOException {
        try {
            AdmittedWorker worker = AdmittedWorker.read(AtomicFile.read(file, AdmittedWorker.MAX_BYTES));
            if (!file.endsWith(name(worker))) {
                throw new MalformedException("ticket: want the file's name, have " + name(worker));
            }
            return worker;
        } catch (MalformedException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }
}
