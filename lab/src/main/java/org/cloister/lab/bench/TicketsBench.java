package org.cloister.lab.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.cloister.base.encoding.Digest;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHome;
import org.cloister.lab.relay.ChildProcess;
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.lab.relay.TicketBurstProgram;
import org.cloister.protocol.ticket.TicketPosition;
import org.cloister.relay.state.NetworkLease;
import org.cloister.relay.state.NetworkPool;
import org.cloister.relay.state.RelayDatabase;
import org.cloister.relay.state.RelayDatabaseException;
import org.cloister.relay.state.RelayTransaction;
import org.cloister.relay.state.StateConflictException;
import org.cloister.relay.state.TicketRequest;

/**
 * Measures a burst of tickets: their records and addresses alone, and through a relay, from the controlling VM's stream
 * over signatures, database and audit log to a Slurm that only counts.
 */
@SuppressWarnings("try") // a program is only there to be used by another one
final class TicketsBench implements Benches.Bench {
    private static final int TICKETS = 400;
    private static final double ALLOCATION_MS = 200;
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final String PROJECT = "p".repeat(52);

    @Override
    public void run(LabHome home, int repetitions, BenchFigures figures) throws IOException {
        Path folder = home.root().resolve("bench-tickets");
        double[] allocation = new double[repetitions];
        double[] accepted = new double[repetitions];
        double[] queued = new double[repetitions];
        // The first round warms up the JVM and is not counted.
        for (int i = -1; i < repetitions; i++) {
            LabCommand.of("rm", "-rf", folder.toString()).succeed();
            Files.createDirectories(folder);
            double milliseconds = allocation(folder.resolve("alone.db"));
            if (i >= 0) {
                allocation[i] = milliseconds;
                Map<String, Double> seconds = rush(folder);
                accepted[i] = TICKETS / seconds.getOrDefault("accepted", Double.NaN);
                queued[i] = TICKETS / seconds.getOrDefault("queued", Double.NaN);
            }
        }
        figures.within("allocation" + TICKETS, allocation, ALLOCATION_MS, "ms");
        figures.alone("accepted", accepted, "tickets/s");
        figures.alone("queued", queued, "tickets/s");
        LabCommand.of("rm", "-rf", folder.toString()).succeed();
    }

    /**
     * Returns the seconds for the relay's records of so many tickets, in one transaction that is on the disk at its
     * end.
     */
    private static double allocation(Path file) throws IOException {
        try (RelayDatabase state = RelayDatabase.open(file, NetworkPool.DEFAULT)) {
            long from = System.nanoTime();
            state.<Integer, StateConflictException>transact(transaction -> {
                for (int i = 0; i < TICKETS; i++) {
                    record(transaction, i);
                }
                return TICKETS;
            });
            return (System.nanoTime() - from) / 1e6;
        } catch (StateConflictException e) {
            throw new IOException("a ticket of the bench was refused: " + e.getMessage(), e);
        }
    }

    private static void record(RelayTransaction transaction, int number)
            throws RelayDatabaseException, StateConflictException {
        String id = "t%025d"
                .formatted(number)
                .replace('0', 'a')
                .replace('1', 'b')
                .replace('8', 'c')
                .replace('9', 'd');
        byte[] document = ("a paper of " + id).repeat(40).getBytes(StandardCharsets.US_ASCII);
        TicketRequest request = new TicketRequest(
                id,
                PROJECT,
                "c.controller." + PROJECT + ".cloister.internal",
                Digest.sha256(document),
                new TicketPosition(1, number + 1L),
                1,
                1,
                1024,
                "lab",
                Instant.now(),
                Optional.empty());
        transaction.tickets().usage(PROJECT);
        transaction.<NetworkLease, StateConflictException>attempt(part -> {
            part.tickets().insert(request, document, document);
            return part.numbers().allocate(id, PROJECT, 1);
        });
        transaction.outbox().add(document);
    }

    private static Map<String, Double> rush(Path folder) throws IOException {
        RelaySiteFiles site = RelaySiteFiles.create(folder, 1);
        int port = ChildProcess.port();
        Path config = site.relayConfig(port);
        Path programs = Files.createDirectories(folder.resolve("slurm"));
        // Its answers are minimal but true: each job waits and gets no nodes.
        program(programs, "sbatch", "cat >/dev/null; echo $$");
        program(programs, "squeue", "exit 1");
        for (String other : List.of("sacct", "scancel", "scontrol")) {
            program(programs, other, "exit 1");
        }
        String slurm = "[slurm]\npartition = \"secure\"\nprograms = \"" + programs + "\"\n";
        Files.writeString(config, slurm, StandardOpenOption.APPEND);
        Map<String, Double> seconds = new HashMap<>();
        try (ChildProcess relay = ChildProcess.relay(folder, config, port)) {
            site.deliver();
            try (ChildProcess rush = ChildProcess.java(TicketBurstProgram.class, folder, folder, port, TICKETS)) {
                for (Optional<String> line = rush.line(TIMEOUT); line.isPresent(); line = rush.line(TIMEOUT)) {
                    String[] words = line.get().split(" ", -1);
                    seconds.put(words[0], Double.valueOf(words[1]));
                }
            }
        }
        if (!seconds.containsKey("queued")) {
            throw new LabException("bench tickets: want all queued, have " + seconds, "read the logs in " + folder);
        }
        return seconds;
    }

    private static void program(Path folder, String name, String body) throws IOException {
        Path file = Files.writeString(folder.resolve(name), "#!/bin/sh\n" + body + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
