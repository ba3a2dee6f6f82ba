package org.cloister.lab.twin;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.cloister.lab.Lab;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHost;
import org.cloister.lab.Poll;

/**
 * QEMU process of a job's worker on any of the lab's hosts, as the kernel reports it.
 *
 * @param startedS when the process was made, by this machine's clock, in seconds since 1970
 */
record WorkerQemu(ProcessHandle process, List<String> arguments, double startedS) {
    private static final Duration LIMIT = Duration.ofMinutes(5);
    /** Pause between polls; a scan of all processes takes processor time from the guests. */
    private static final Duration PAUSE = Duration.ofMillis(250);

    private static final double TICKS = 100;
    /** Index in proc(5), counted from the field after the program's name. */
    private static final int STARTED = 19;

    /** Returns the ids of the existing processes. */
    static Set<Long> all() {
        return qemus().stream().map(ProcessHandle::pid).collect(Collectors.toSet());
    }

    /**
     * @param before the ids of processes that are no worker's, {@link #all}
     * @param log that states why no worker appears
     */
    static WorkerQemu await(Lab lab, Set<Long> before, Path log) throws IOException {
        List<WorkerQemu> found = new ArrayList<>();
        Poll.until("a worker's QEMU", LIMIT, "read " + log, PAUSE, () -> {
            for (ProcessHandle each : qemus()) {
                if (!before.contains(each.pid()) && isOf(lab, each)) {
                    read(each).ifPresent(found::add);
                }
            }
            return !found.isEmpty();
        });
        return found.get(0);
    }

    /** @return when it had ended, by this machine's clock, in seconds since 1970 */
    double awaitEnd() throws IOException {
        Poll.until("the end of " + name(), LIMIT, "read the worker's console", () -> !process.isAlive());
        return TracedJob.seconds(Instant.now());
    }

    String name() {
        return after("-name").replaceAll("^guest=|,.*$", "");
    }

    String cpus() {
        return after("-smp").replaceAll(",.*$", "");
    }

    String memoryMib() {
        return after("-m");
    }

    private String after(String option) {
        return arguments.get(arguments.indexOf(option) + 1);
    }

    private static List<ProcessHandle> qemus() {
        return ProcessHandle.allProcesses()
                .filter(each -> each.info()
                        .command()
                        .filter(command -> command.endsWith("qemu-system-x86_64"))
                        .isPresent())
                .toList();
    }

    /** Returns whether a process belongs to this lab; other labs have their own. */
    private static boolean isOf(Lab lab, ProcessHandle each) throws IOException {
        for (LabHost host : lab.hosts()) {
            if (network(host.pid()).equals(network(each.pid()))) {
                return true;
            }
        }
        return false;
    }

    private static String network(long pid) throws IOException {
        try {
            return Files.readSymbolicLink(Path.of("/proc", Long.toString(pid), "ns/net"))
                    .toString();
        } catch (NoSuchFileException e) {
            return "none, process " + pid + " has ended";
        }
    }

    /**
     * Returns empty for libvirt's own process, which probes QEMU's capabilities, and for a process that has already
     * ended.
     */
    private static Optional<WorkerQemu> read(ProcessHandle process) throws IOException {
        Path folder = Path.of("/proc", Long.toString(process.pid()));
        try {
            List<String> arguments =
                    List.of(Files.readString(folder.resolve("cmdline")).split("\0", -1));
            if (!arguments.contains("-kernel")) {
                return Optional.empty();
            }
            String stat = Files.readString(folder.resolve("stat"));
            String uptime = Files.readString(Path.of("/proc/uptime"));
            double now = TracedJob.seconds(Instant.now());
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            double age = Double.parseDouble(uptime.split(" ", 2)[0]) - Long.parseLong(fields[STARTED]) / TICKS;
            return Optional.of(new WorkerQemu(process, arguments, now - age));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new LabException("process " + process.pid() + ": " + e.getMessage(), "look at it by hand", e);
        }
    }
}
