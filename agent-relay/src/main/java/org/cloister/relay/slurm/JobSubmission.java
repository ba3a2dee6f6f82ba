package org.cloister.relay.slurm;

import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/**
 * Request to the Global Slurm for a ticket or an opening: its resources and its id.
 *
 * @param partition where the job runs
 * @param ticket becomes the job's name and comment
 * @param account the site's account that is charged
 * @param nodes exact number of nodes
 * @param memoryMib memory of each node in MiB; 0: all of the node's memory, only with {@code exclusive}
 * @param limit time limit in whole minutes
 * @param features features that each node must have
 */
public record JobSubmission(
        String partition,
        String ticket,
        String account,
        int nodes,
        OptionalInt tasks,
        int cpusPerTask,
        OptionalInt tasksPerNode,
        int memoryMib,
        boolean exclusive,
        Duration limit,
        List<String> features) {
    static final Pattern ACCOUNT = Pattern.compile("[A-Za-z0-9_.-]{1,64}");
    private static final Pattern FEATURE = Pattern.compile("[A-Za-z0-9_.-]{1,64}");
    private static final int MAX_NODES = 4096;
    private static final int MAX_TASKS = 1 << 20;
    private static final int MAX_PER_NODE = 4096;
    private static final int MAX_MEMORY_MIB = 1 << 24;
    private static final int MAX_FEATURES = 32;
    /** Longest time of a ticket plus the site's allowances. */
    private static final long MAX_MINUTES = Duration.ofDays(368).toMinutes();

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException if a value is out of range; the text states which one and the range
     */
    public JobSubmission {
        features = List.copyOf(features);
        require(
                "partition: want " + GlobalPartitions.NAME,
                GlobalPartitions.NAME.matcher(partition).matches());
        require(
                "ticket: want 26 characters of base32",
                GlobalJob.TICKET.matcher(ticket).matches());
        require("account: want " + ACCOUNT, ACCOUNT.matcher(account).matches());
        require("nodes", nodes, 1, MAX_NODES);
        tasks.ifPresent(n -> require("tasks", n, 1, MAX_TASKS));
        require("cpusPerTask", cpusPerTask, 1, MAX_PER_NODE);
        tasksPerNode.ifPresent(n -> require("tasksPerNode", n, 1, MAX_PER_NODE));
        require("memoryMib", memoryMib, exclusive ? 0 : 1, MAX_MEMORY_MIB);
        require("limit in minutes", limit.toMinutes(), 1, MAX_MINUTES);
        require("limit: want whole minutes", limit.equals(Duration.ofMinutes(limit.toMinutes())));
        require("features", features.size(), 0, MAX_FEATURES);
        features.forEach(
                f -> require("feature: want " + FEATURE, FEATURE.matcher(f).matches()));
    }

    private static void require(String name, long value, long min, long max) {
        require(name + ": want " + min + " to " + max + ", have " + value, value >= min && value <= max);
    }

    private static void require(String text, boolean holds) {
        if (!holds) {
            throw new IllegalArgumentException(text);
        }
    }
}
