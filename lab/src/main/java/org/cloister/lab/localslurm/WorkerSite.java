package org.cloister.lab.localslurm;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.lab.LabException;
import org.cloister.lab.Sandbox;
import org.cloister.vm.controller.config.HostShape;

/**
 * Hosts on which workers are made as namespaces. All state is on disk or in running processes, so the process that
 * requests workers may die.
 */
public final class WorkerSite {
    private static final Pattern TICKET_NODES = Pattern.compile("(vm-[a-z2-7]{8})-");
    private static final Pattern STARTED = Pattern.compile("\\[([-0-9T:.]+)\\] slurmd started on .*");
    private static final double MILLISECONDS = 1e3;

    private final ClusterSite site;
    private final List<HostShape> shapes;

    WorkerSite(ClusterSite site, List<HostShape> shapes) {
        this.site = site;
        this.shapes = List.copyOf(shapes);
    }

    /** Opens the worker allocator, which only one process at a time may use. */
    public NamespaceWorkers openWorkers() throws IOException {
        return new NamespaceWorkers(site, shapes);
    }

    public WorkerFaults faults() throws IOException {
        return new WorkerFaults(site);
    }

    /** Returns the tickets of which something may be left. */
    public List<String> tickets() throws IOException {
        return new RequestedTicketFiles(site.folder().resolve("book"))
                .all().stream().map(RequestedTicket::ticket).toList();
    }

    /** Returns the names of the existing workers, ready or not. */
    public List<String> nodes() throws IOException {
        return Sandbox.find(site.lab()).stream()
                .map(Sandbox::name)
                .filter(name -> name.startsWith("vm-"))
                .sorted()
                .toList();
    }

    /** Returns the machine of one of {@link #nodes}, for access as root. */
    public Sandbox machine(String node) throws IOException {
        return Sandbox.find(site.lab(), node)
                .orElseThrow(() -> new LabException("worker " + node + ": not found", "squeue says which there are"));
    }

    /**
     * Returns when the last of a job's workers was about to register, by its slurmd's own log: the line before its
     * request to slurmctld. slurmctld marks the node idle some milliseconds later, and does not report that time.
     *
     * @param nodes of one ticket, as Slurm folds their names
     * @return seconds since the epoch
     */
    public double registrationTime(String nodes) throws IOException {
        Matcher ticket = TICKET_NODES.matcher(nodes);
        if (!ticket.lookingAt()) {
            throw new IllegalArgumentException("nodes: want a ticket's, have " + nodes);
        }
        double last = 0;
        try (DirectoryStream<Path> logs =
                Files.newDirectoryStream(site.folder().resolve("log"), ticket.group(1) + "-*.log")) {
            for (Path log : logs) {
                last = Math.max(last, started(log));
            }
        }
        return last;
    }

    private static double started(Path log) throws IOException {
        for (String line : Files.readAllLines(log)) {
            Matcher started = STARTED.matcher(line);
            if (started.matches()) {
                return LocalDateTime.parse(started.group(1))
                                .atZone(ZoneId.systemDefault())
                                .toInstant()
                                .toEpochMilli()
                        / MILLISECONDS;
            }
        }
        throw new LabException("slurmd: want its start in " + log + ", have none", "read it");
    }
}
