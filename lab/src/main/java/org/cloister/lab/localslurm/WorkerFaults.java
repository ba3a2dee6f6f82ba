package org.cloister.lab.localslurm;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.cloister.lab.LabException;
import org.cloister.lab.Sandbox;

/** Faults of workers, which any process adds and the next worker allocator to request a ticket injects. */
public final class WorkerFaults {
    private final ClusterSite site;
    private final Path folder;
    private final ObjectMapper json = new ObjectMapper();

    WorkerFaults(ClusterSite site) throws IOException {
        this.site = site;
        this.folder = Files.createDirectories(site.folder().resolve("faults"));
    }

    /** Adds a fault for the next ticket that is requested; of several, each applies to one ticket. */
    public void add(WorkerFault fault) throws IOException {
        Path file = folder.resolve("." + System.nanoTime());
        Files.writeString(file, json.writeValueAsString(fault));
        Files.move(file, folder.resolve(file.getFileName().toString().substring(1)));
    }

    /** Removes the faults that no ticket has used yet. */
    public void clear() throws IOException {
        Optional<WorkerFault> left = poll();
        while (left.isPresent()) {
            left = poll();
        }
    }

    /** Kills the node's slurmd with kill -9; its VM and the job's processes stay. */
    public void killSlurmd(String node) throws IOException {
        String started = "timeout 10 sh -c 'until [ -s /run/slurmd.pid ]; do sleep 0.1; done'";
        find(node)
                .command("sh", "-c", started + " && kill -9 $(cat /run/slurmd.pid)")
                .succeed();
    }

    /** Kills the VM with all that runs there. */
    public void killVm(String node) throws IOException {
        find(node).kill();
    }

    Optional<WorkerFault> poll() throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(folder)) {
            files = all.filter(file -> !file.getFileName().toString().startsWith("."))
                    .sorted()
                    .toList();
        }
        if (files.isEmpty()) {
            return Optional.empty();
        }
        WorkerFault fault = json.readValue(files.get(0).toFile(), WorkerFault.class);
        Files.delete(files.get(0));
        return Optional.of(fault);
    }

    private Sandbox find(String node) throws IOException {
        return Sandbox.find(site.lab(), node)
                .orElseThrow(() -> new LabException("node " + node + ": not there", "look at sinfo"));
    }
}
