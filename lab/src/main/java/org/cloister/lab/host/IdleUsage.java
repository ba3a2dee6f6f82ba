package org.cloister.lab.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Resource usage of an idle process, as the kernel counts it. */
public record IdleUsage(long pid) {
    /** Returns the megabytes of its memory, private or shared. */
    public double residentMb() throws IOException {
        return status(process().resolve("status"), "VmRSS:") * 1024 / 1e6;
    }

    /** Returns the same without mapped files, such as libjvm.so, which all Java processes share. */
    public double ownMb() throws IOException {
        return status(process().resolve("status"), "RssAnon:") * 1024 / 1e6;
    }

    /** A thread, and how often it was scheduled on a processor. */
    public record ContextSwitches(String name, long count) {}

    /** Returns the context switches of each thread, by its id. */
    public Map<String, ContextSwitches> switches() throws IOException {
        Map<String, ContextSwitches> switches = new HashMap<>();
        List<Path> threads;
        try (Stream<Path> all = Files.list(process().resolve("task"))) {
            threads = all.toList();
        }
        for (Path each : threads) {
            count(each).ifPresent(count -> switches.put(each.getFileName().toString(), count));
        }
        return switches;
    }

    /** Returns the count; empty for a thread that has ended. */
    private static Optional<ContextSwitches> count(Path thread) throws IOException {
        try {
            long count = status(thread.resolve("status"), "voluntary_ctxt_switches:")
                    + status(thread.resolve("status"), "nonvoluntary_ctxt_switches:");
            return Optional.of(
                    new ContextSwitches(Files.readString(thread.resolve("comm")).strip(), count));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    private Path process() {
        return Path.of("/proc", Long.toString(pid));
    }

    private static long status(Path file, String key) throws IOException {
        for (String line : Files.readAllLines(file)) {
            if (line.startsWith(key)) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        throw new IOException(file + ": no " + key);
    }
}
