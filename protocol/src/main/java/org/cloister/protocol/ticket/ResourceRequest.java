package org.cloister.protocol.ticket;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.OptionalInt;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;

/**
 * Job's request for resources of Global Slurm, in numbers alone.
 *
 * @param tasks in total; empty if the job did not state them
 * @param tasksPerNode empty if the job did not state them
 * @param memoryMib of each node; 0 requests all memory of an exclusive node
 * @param scratchMib of each worker's empty disk, as the host creates it
 * @param exclusive whether whole nodes are requested
 * @param minutes that the job may run, without the site's allowances
 * @param features positions in the approval's list, ascending
 */
public record ResourceRequest(
        int nodes,
        OptionalInt tasks,
        int cpusPerTask,
        OptionalInt tasksPerNode,
        int memoryMib,
        int scratchMib,
        boolean exclusive,
        int minutes,
        List<Integer> features) {
    public static final int MAX_NODES = 4096;
    public static final int MAX_TASKS = 1 << 20;
    /** Limit of CPUs of a node, and so of a task. */
    public static final int MAX_CPUS = 4096;
    /** 16 TiB. */
    public static final int MAX_MIB = 1 << 24;
    /** 366 days. */
    public static final int MAX_MINUTES = 366 * 24 * 60;

    public static final int MAX_FEATURES = 32;

    /** @throws IllegalArgumentException if a value is out of its range, or two values are inconsistent */
    public ResourceRequest {
        require("nodes", nodes, 1, MAX_NODES);
        tasks.ifPresent(have -> require("tasks", have, 1, MAX_TASKS));
        require("cpusPerTask", cpusPerTask, 1, MAX_CPUS);
        tasksPerNode.ifPresent(have -> require("tasksPerNode", have, 1, MAX_CPUS));
        require("memoryMiB", memoryMib, exclusive ? 0 : 1, MAX_MIB);
        require("scratchMiB", scratchMib, 0, MAX_MIB);
        require("minutes", minutes, 1, MAX_MINUTES);
        features = List.copyOf(features);
        if (features.size() > MAX_FEATURES) {
            throw new IllegalArgumentException("features: want at most " + MAX_FEATURES + ", have " + features.size());
        }
        int least = 0;
        for (int each : features) {
            require("features", each, least, MAX_FEATURES - 1);
            least = each + 1;
        }
        // Slurm allocates fewer nodes to a job with fewer tasks, and slots would be missing.
        tasks.ifPresent(have -> require("tasks", have, nodes, (long) nodes * tasksPerNode.orElse(MAX_CPUS)));
        require("CPUs of a node", cpusOfNode(nodes, tasks, cpusPerTask, tasksPerNode), 1, MAX_CPUS);
    }

    /** Returns the request with this memory per node. */
    public ResourceRequest withMemory(int mib) {
        return new ResourceRequest(
                nodes, tasks, cpusPerTask, tasksPerNode, mib, scratchMib, exclusive, minutes, features);
    }

    /** Returns the request with scratch disks of this size. */
    public ResourceRequest withScratch(int mib) {
        return new ResourceRequest(
                nodes, tasks, cpusPerTask, tasksPerNode, memoryMib, mib, exclusive, minutes, features);
    }

    static ResourceRequest read(StrictJson json) throws MalformedException {
        return new ResourceRequest(
                (int) json.number("nodes", 1, MAX_NODES),
                optional(json, "tasks", MAX_TASKS),
                (int) json.number("cpusPerTask", 1, MAX_CPUS),
                optional(json, "tasksPerNode", MAX_CPUS),
                (int) json.number("memoryMiB", 0, MAX_MIB),
                (int) json.number("scratchMiB", 0, MAX_MIB),
                json.flag("exclusive"),
                (int) json.number("minutes", 1, MAX_MINUTES),
                json.has("features") ? json.ascending("features", MAX_FEATURES, 0, MAX_FEATURES - 1) : List.of());
    }

    void write(ObjectNode json) {
        json.put("nodes", nodes);
        tasks.ifPresent(value -> json.put("tasks", value));
        json.put("cpusPerTask", cpusPerTask);
        tasksPerNode.ifPresent(value -> json.put("tasksPerNode", value));
        json.put("memoryMiB", memoryMib)
                .put("scratchMiB", scratchMib)
                .put("exclusive", exclusive)
                .put("minutes", minutes);
        if (!features.isEmpty()) {
            ArrayNode list = json.putArray("features");
            features.forEach(list::add);
        }
    }

    /**
     * Returns the CPUs of one node as requested; the quota counts these also for an exclusive node, whatever the node
     * has.
     */
    public int cpusPerNode() {
        return (int) cpusOfNode(nodes, tasks, cpusPerTask, tasksPerNode);
    }

    /** Returns the most CPUs that one node may need, since Slurm may distribute the tasks unevenly. */
    long mostCpusOfNode() {
        int most = tasksPerNode.orElse(tasks.isPresent() ? tasks.getAsInt() - nodes + 1 : 1);
        return (long) most * cpusPerTask;
    }

    /** Returns the number of CPUs that the quota counts. */
    public long cpusInAll() {
        return (long) nodes * cpusPerNode();
    }

    /**
     * Returns the memory that the quota counts; 0 if all memory of each node is requested, which the quota's nodes
     * limit.
     */
    public long memoryMibInAll() {
        return (long) nodes * memoryMib;
    }

    private static long cpusOfNode(int nodes, OptionalInt tasks, int cpusPerTask, OptionalInt tasksPerNode) {
        int most = tasksPerNode.orElse(tasks.isPresent() ? (tasks.getAsInt() - 1) / nodes + 1 : 1);
        return (long) most * cpusPerTask;
    }

    private static OptionalInt optional(StrictJson json, String key, int max) throws MalformedException {
        return json.has(key) ? OptionalInt.of((int) json.number(key, 1, max)) : OptionalInt.empty();
    }

    private static void require(String name, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(name + ": want " + min + " to " + max + ", have " + value);
        }
    }
}
