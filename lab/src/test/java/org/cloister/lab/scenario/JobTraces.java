package org.cloister.lab.scenario;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import org.cloister.lab.Poll;
import org.cloister.lab.localslurm.ControllerProcess;
import org.cloister.lab.localslurm.LabCluster;
import org.cloister.lab.localslurm.SlurmPairFixture;
import org.cloister.vm.controller.slurm.LocalSlurm;

/** Resources of a job beside its output and its records: none may remain. */
final class JobTraces {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final SlurmPairFixture stage;
    private final LabCluster local;
    private final ControllerProcess controller;

    JobTraces(SlurmPairFixture stage, ControllerProcess controller) {
        this.stage = stage;
        this.local = stage.local();
        this.controller = controller;
    }

    /** @param name with which the names of the jobs begin */
    void awaitEnd(String name, Duration limit) throws IOException {
        await(
                "no job",
                limit,
                () -> local.root()
                        .succeed("squeue", "-h", "-o", "%j")
                        .lines()
                        .noneMatch(each -> each.startsWith(name)));
    }

    void awaitNone(Duration limit) throws IOException {
        await(
                "no ticket of the workers'",
                limit,
                () -> stage.workers().tickets().isEmpty());
        await("no worker", limit, () -> stage.workers().nodes().isEmpty());
        await(
                "no node but the block",
                limit,
                () -> local.root()
                        .succeed("sinfo", "-h", "-N", "-o", "%N")
                        .lines()
                        .allMatch(node -> node.startsWith(LocalSlurm.PLACEHOLDER_PREFIX)));
        await("no ticket in the ledger", limit, () -> ledger().isEmpty());
        await("no status", limit, () -> statuses() == 0);
    }

    Path log() {
        return controller.log();
    }

    void await(String what, Duration limit, Poll.Question question) throws IOException {
        local.head().await(what, controller.log(), limit, question);
    }

    /** The tickets of all lines that are whole, but those that are kept for their job's statement alone. */
    Set<String> ledger() throws IOException {
        Set<String> tickets = new TreeSet<>();
        String text = Files.readString(local.folder().resolve("state/ledger"));
        for (String line : text.substring(0, text.lastIndexOf('\n') + 1).lines().toList()) {
            JsonNode change = JSON.readTree(line);
            for (JsonNode entry : change.path("put")) {
                String ticket = entry.path("ticket").asText();
                if (entry.path("stage").asText().equals("GONE")) {
                    tickets.remove(ticket);
                } else {
                    tickets.add(ticket);
                }
            }
            change.path("drop").forEach(ticket -> tickets.remove(ticket.asText()));
        }
        return tickets;
    }

    private int statuses() throws IOException {
        Path folder = local.folder().resolve("run/jobs");
        try (var files = Files.list(folder)) {
            return (int) files.count();
        }
    }
}
