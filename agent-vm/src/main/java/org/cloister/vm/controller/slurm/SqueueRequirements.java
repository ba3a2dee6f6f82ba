package org.cloister.vm.controller.slurm;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.slurm.FixedWidthRow;
import org.cloister.slurm.SlurmUnavailableException;

/**
 * Reads a job's requirements from squeue's output with {@code --noconvert} (22.05). A pending job's {@code tres-alloc}
 * is its minimum request, {@code cpu=4,mem=400M,node=1,billing=4}, and the only column with the minimum number of
 * nodes.
 */
final class SqueueRequirements {
    /**
     * Set as the maximum of a job that shall have no maximum number of nodes, since Slurm cannot remove one; larger
     * than any cluster. scontrol shows it.
     */
    static final int NO_MAX_NODES = 1_000_000;

    private static final int NUMBER_WIDTH = 12;
    private static final int MEMORY_WIDTH = 20;
    private static final int SHARING_WIDTH = 10;
    private static final int LIMIT_WIDTH = 20;
    private static final int TRES_WIDTH = 128;

    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,10}");
    private static final Pattern MEMORY = Pattern.compile("([0-9]{1,12})M?");
    private static final Pattern TRES =
            Pattern.compile("(?:^|,)(cpu|mem|node)=([0-9]{1,12}(?:[.][0-9]{1,2})?)([KMGTP]?)(?=,|$)");
    private static final Pattern LIMIT = Pattern.compile("(?:([0-9]{1,6})-)?(?:([0-9]{1,2}):)?([0-9]{1,2}):([0-9]{2})");
    private static final Pattern NO_LIMIT = Pattern.compile("UNLIMITED|NOT_SET|INVALID|Partition_Limit");

    private SqueueRequirements() {}

    static String format(ExclusiveColumn exclusive) {
        return "MaxNodes:" + NUMBER_WIDTH + "|,NumTasks:" + NUMBER_WIDTH + "|,cpus-per-task:" + NUMBER_WIDTH
                + "|,ntpernode:" + NUMBER_WIDTH + "|,MinMemory:" + MEMORY_WIDTH + "|,MinTmpDisk:" + MEMORY_WIDTH
                + "|," + exclusive.format(SHARING_WIDTH) + "TimeLimit:" + LIMIT_WIDTH + "|,tres-alloc:" + TRES_WIDTH
                + "|";
    }

    static JobRequirements read(FixedWidthRow columns, ExclusiveColumn column) throws SlurmUnavailableException {
        int maxNodes = number(columns, columns.next(NUMBER_WIDTH));
        int tasks = Math.max(1, number(columns, columns.next(NUMBER_WIDTH)));
        int cpusPerTask = Math.max(1, number(columns, columns.next(NUMBER_WIDTH)));
        int tasksPerNode = number(columns, columns.next(NUMBER_WIDTH));
        long memory = mebibytes(columns, columns.next(MEMORY_WIDTH));
        long scratch = mebibytes(columns, columns.next(MEMORY_WIDTH));
        boolean exclusive = column.isExclusive(columns.next(SHARING_WIDTH));
        Optional<Duration> limit = limit(columns, columns.next(LIMIT_WIDTH));
        Tres tres = Tres.of(columns.next(TRES_WIDTH));
        int minNodes = (int) Math.max(1, Math.min(tres.nodes, NO_MAX_NODES));
        return new JobRequirements(
                minNodes,
                maxNodes >= NO_MAX_NODES ? minNodes : Math.max(minNodes, maxNodes),
                tasks,
                cpusPerTask,
                tasksPerNode == 0 ? OptionalInt.empty() : OptionalInt.of(tasksPerNode),
                memory,
                memory > 0 && !tres.isOfNodes(memory),
                scratch,
                exclusive,
                limit);
    }

    /** Returns the number of nodes as {@code scontrol update numnodes=} accepts it. */
    static String nodes(JobRequirements requirements) {
        int maxNodes = requirements.maxNodes() > requirements.minNodes() ? requirements.maxNodes() : NO_MAX_NODES;
        return requirements.minNodes() + "-" + maxNodes;
    }

    private static int number(FixedWidthRow columns, String text) throws SlurmUnavailableException {
        if (text.equals("N/A") || text.isEmpty()) {
            return 0;
        }
        if (!NUMBER.matcher(text).matches()) {
            throw columns.strange();
        }
        return (int) Math.min(Long.parseLong(text), Integer.MAX_VALUE);
    }

    private static long mebibytes(FixedWidthRow columns, String text) throws SlurmUnavailableException {
        Matcher memory = MEMORY.matcher(text);
        if (!memory.matches()) {
            throw columns.strange();
        }
        return Long.parseLong(memory.group(1));
    }

    private static Optional<Duration> limit(FixedWidthRow columns, String text) throws SlurmUnavailableException {
        if (NO_LIMIT.matcher(text).matches()) {
            return Optional.empty();
        }
        Matcher limit = LIMIT.matcher(text);
        if (!limit.matches()) {
            throw columns.strange();
        }
        return Optional.of(Duration.ofDays(part(limit, 1))
                .plusHours(part(limit, 2))
                .plusMinutes(part(limit, 3))
                .plusSeconds(part(limit, 4)));
    }

    private static long part(Matcher matcher, int group) {
        return matcher.group(group) == null ? 0 : Long.parseLong(matcher.group(group));
    }

    /**
     * Trackable resources of a job. A missing one is 0, as for a job that has ended. Memory is rounded and has a unit,
     * even with {@code --noconvert}.
     */
    private record Tres(long cpus, double mebibytes, double rounding, long nodes) {
        static Tres of(String text) {
            long cpus = 0;
            double mebibytes = 0;
            double rounding = 0;
            long nodes = 0;
            Matcher each = TRES.matcher(text);
            while (each.find()) {
                double value = Double.parseDouble(each.group(2));
                switch (each.group(1)) {
                    case "cpu" -> cpus = (long) value;
                    case "node" -> nodes = (long) value;
                    default -> {
                        double unit = Math.pow(1024, exponent(each.group(3)));
                        mebibytes = value * unit;
                        rounding = unit / 100;
                    }
                }
            }
            return new Tres(cpus, mebibytes, rounding, nodes);
        }

        /** Returns the exponent for MiB, the unit of values without one. */
        private static int exponent(String unit) {
            return unit.isEmpty() ? 0 : "KMGTP".indexOf(unit) - 1;
        }

        /**
         * Returns whether the job's memory is per node: squeue does not report it, but the sum shows it. With one CPU
         * per node the sum is ambiguous; then both mean the same, except for an exclusive job, which has all CPUs of
         * its node.
         */
        boolean isOfNodes(long memory) {
            return cpus > nodes && Math.abs(mebibytes - (double) memory * nodes) <= rounding;
        }
    }
}
