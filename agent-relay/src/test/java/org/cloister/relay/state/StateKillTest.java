package org.cloister.relay.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.cloister.protocol.ticket.TicketPosition;
import org.cloister.protocol.ticket.TicketState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Drawn operations on a database in a process that is killed at drawn moments, held against a model: nothing is lost or
 * doubled, and nothing leaks. {@code -Dcloister.sweep.all=true} draws 100,000 of them, {@code -Dcloister.seed} repeats.
 */
class StateKillTest {
    private static final int SAMPLE = 4_000;
    private static final int WHOLE = 100_000;
    private static final int OPERATIONS_A_RUN = 800;
    private static final int LARGEST_BATCH = 12;
    private static final int LONGEST_BATCH_NS = 4_000_000;

    @TempDir
    Path folder = Path.of("");

    private final long seed = seed();
    private final Random random = new Random(seed);
    private final RelayDatabaseModel model = new RelayDatabaseModel();
    private final List<String> accepted = new ArrayList<>();
    private long now;
    private int batches;
    private int ids;

    @Test
    void nothing_is_lost_or_doubled_or_leaks_however_often_the_relay_is_killed() throws Exception {
        int left = Boolean.getBoolean("cloister.sweep.all") ? WHOLE : SAMPLE;
        while (left > 0) {
            left -= life(Math.min(left, OPERATIONS_A_RUN), true);
        }
        life(OPERATIONS_A_RUN, false);
    }

    /** One process, until it is killed; the last one ends all that is held, and shows that everything is free. */
    private int life(int operations, boolean killed) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        StateProcess.class.getName(),
                        folder.resolve("relay.db").toString(),
                        Long.toString(now))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (PrintStream to = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
                BufferedReader from = process.inputReader()) {
            assertThat(from.readLine()).as("seed %s", seed).isEqualTo("ready");
            to.println("results");
            opened(from.readLine());
            to.println("dump");
            assertThat(from.readLine()).as("seed %s", seed).isEqualTo(String.join("|", model.dump()));
            int done = 0;
            while (done < operations) {
                if (random.nextInt(40) == 0) {
                    to.println("restart");
                    assertThat(from.readLine()).isEqualTo("ready");
                    model.opened(now);
                }
                done += send(to);
                if (killed && done >= operations) {
                    LockSupport.parkNanos(random.nextInt(LONGEST_BATCH_NS));
                    // Process::destroyForcibly would also close what we read from it.
                    process.toHandle().destroyForcibly();
                    process.waitFor();
                } else {
                    apply(from.readLine());
                }
            }
            if (!killed) {
                empty(to, from);
            }
            return done;
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    private List<String> sent = List.of();

    /** The batch that a kill met was done whole or not at all; what is in the database says which. */
    private void opened(String results) {
        if (!sent.isEmpty() && results.startsWith(batches + " ")) {
            apply(results);
        }
        sent = List.of();
        model.opened(now);
    }

    private int send(PrintStream to) {
        now += random.nextInt(4);
        List<String> batch = new ArrayList<>();
        for (int i = random.nextInt(LARGEST_BATCH); i >= 0; i--) {
            batch.add(draw());
        }
        send(to, batch);
        return batch.size();
    }

    private void send(PrintStream to, List<String> batch) {
        sent = batch;
        to.println(++batches + " " + now + " " + String.join(";", batch));
    }

    private void apply(String answer) {
        String[] parts = answer.split(" ", 2);
        assertThat(Integer.parseInt(parts[0])).as("seed %s", seed).isEqualTo(batches);
        String[] results = parts[1].split(";", -1);
        assertThat(results).hasSameSizeAs(sent);
        for (int i = 0; i < results.length; i++) {
            model.apply(sent.get(i), results[i], now);
        }
        sent = List.of();
    }

    private String draw() {
        String project = RelayDatabaseModel.PROJECTS.get(random.nextInt(RelayDatabaseModel.PROJECTS.size()));
        return switch (random.nextInt(12)) {
            case 0, 1, 2, 3 -> accept(project);
            case 4, 5, 6, 7 -> "end " + id();
            case 8 -> "queued " + id();
            case 9 -> random.nextBoolean() ? "withdrawn " + id() : "forget";
            case 10 -> "vlan " + project;
            default -> "audit " + (1 + random.nextInt(9));
        };
    }

    private String accept(String project) {
        if (!accepted.isEmpty() && random.nextInt(8) == 0) {
            return accepted.get(random.nextInt(accepted.size()));
        }
        TicketPosition highest = model.highest(project);
        // Within one batch the same project may come twice: then the second one is too low, unless it is far ahead.
        long number = highest.sequence() + 1 + random.nextInt(9);
        String operation = "accept t" + ++ids + " " + project + " " + highest.epoch() + " " + number + " "
                + (1 + random.nextInt(5));
        accepted.add(operation);
        return operation;
    }

    private String id() {
        List<String> open = model.tickets(TicketState.ACCEPTED);
        return open.isEmpty() || random.nextInt(5) == 0
                ? "t" + (1 + random.nextInt(ids + 1))
                : open.get(random.nextInt(open.size()));
    }

    private void empty(PrintStream to, BufferedReader from) throws IOException {
        List<String> ends = new ArrayList<>();
        model.tickets(TicketState.ACCEPTED).forEach(id -> ends.add("end " + id));
        model.tickets(TicketState.QUEUED).forEach(id -> ends.add("end " + id));
        RelayDatabaseModel.PROJECTS.forEach(project -> ends.add("vlan " + project));
        ends.add("audit 1000000");
        send(to, ends);
        apply(from.readLine());
        now += RelayDatabaseModel.POOL.reuseDelay().toSeconds() + 1;
        List<String> all = new ArrayList<>();
        for (String project : RelayDatabaseModel.PROJECTS) {
            all.add("accept u" + project + " " + project + " 9 1 " + RelayDatabaseModel.POOL.hosts());
        }
        send(to, all);
        String answer = from.readLine();
        apply(answer);
        assertThat(answer.split("ok ", -1))
                .as("every VLAN with all its addresses")
                .hasSize(1 + RelayDatabaseModel.USABLE);
        assertThat(answer.split("exhausted", -1))
                .hasSize(1 + RelayDatabaseModel.PROJECTS.size() - RelayDatabaseModel.USABLE);
    }

    private static long seed() {
        String text = System.getProperty("cloister.seed", "");
        long seed = text.isEmpty() ? ThreadLocalRandom.current().nextLong() : Long.parseLong(text);
        System.out.println("operations on the state: CLOISTER_SEED=" + seed);
        return seed;
    }
}
