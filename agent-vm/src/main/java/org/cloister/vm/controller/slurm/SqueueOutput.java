package org.cloister.vm.controller.slurm;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.slurm.FixedWidthRow;
import org.cloister.slurm.HostlistExpander;
import org.cloister.slurm.SlurmUnavailableException;

/** Reads squeue's columns, none of which a user can write; each pending task of an array has a line ({@code -r}). */
final class SqueueOutput {
    /** Sufficient for a job with a few nodes; a longer list is queried separately. */
    static final int NODES_WIDTH = 96;

    private static final int ID_WIDTH = 24;
    private static final int NUMBER_WIDTH = 12;
    private static final int STATE_WIDTH = 20;
    private static final int REASON_WIDTH = 64;
    private static final int FEATURES_WIDTH = 64;
    /** Length of the longest AdminComment, plus one. */
    private static final int ADMIN_WIDTH = 1025;

    private static final int MAX_JOBS = 100_000;

    private static final String FORMAT = "JobArrayID:" + ID_WIDTH + "|,JobID:" + NUMBER_WIDTH + "|,ArrayJobID:"
            + NUMBER_WIDTH + "|,HetJobID:" + NUMBER_WIDTH + "|,RestartCnt:" + NUMBER_WIDTH + "|,UserID:" + NUMBER_WIDTH
            + "|,State:" + STATE_WIDTH + "|,Reason:" + REASON_WIDTH + "|,PriorityLong:" + NUMBER_WIDTH + "|,Feature:"
            + FEATURES_WIDTH + "|,NodeList:" + NODES_WIDTH + "|,admin_comment:" + ADMIN_WIDTH + "|,";

    private static final Pattern TASK = Pattern.compile("[0-9]{1,10}_[0-9]{1,7}");
    private static final Pattern STATE = Pattern.compile("[A-Z][A-Z_]{1,19}");
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,10}");
    private static final List<String> NONE = List.of("", "(null)", "n/a", "N/A", "None");

    /** States of 22.05 to 26.05, without {@link #ENDS}. */
    private static final Map<String, LocalSlurmJobState> STATES = Map.ofEntries(
            Map.entry("PENDING", LocalSlurmJobState.PENDING),
            Map.entry("REQUEUED", LocalSlurmJobState.PENDING),
            Map.entry("REQUEUE_HOLD", LocalSlurmJobState.PENDING),
            Map.entry("REQUEUE_FED", LocalSlurmJobState.PENDING),
            Map.entry("RESV_DEL_HOLD", LocalSlurmJobState.PENDING),
            Map.entry("SPECIAL_EXIT", LocalSlurmJobState.PENDING),
            Map.entry("CONFIGURING", LocalSlurmJobState.RUNNING),
            Map.entry("POWER_UP_NODE", LocalSlurmJobState.RUNNING),
            Map.entry("RUNNING", LocalSlurmJobState.RUNNING),
            Map.entry("SUSPENDED", LocalSlurmJobState.RUNNING),
            Map.entry("STOPPED", LocalSlurmJobState.RUNNING),
            Map.entry("SIGNALING", LocalSlurmJobState.RUNNING),
            Map.entry("RESIZING", LocalSlurmJobState.RUNNING),
            Map.entry("STAGE_OUT", LocalSlurmJobState.COMPLETING),
            Map.entry("COMPLETING", LocalSlurmJobState.COMPLETING));

    private static final List<String> ENDS = List.of(
            "COMPLETED",
            "FAILED",
            "OUT_OF_MEMORY",
            "CANCELLED",
            "REVOKED",
            "TIMEOUT",
            "DEADLINE",
            "NODE_FAIL",
            "BOOT_FAIL",
            "LAUNCH_FAILED",
            "RECONFIG_FAIL",
            "PREEMPTED");

    private SqueueOutput() {}

    /**
     * A job whose nodes are still folded, without its array's throttle.
     *
     * @param number Slurm's own, which the tasks of an array share until they are split off
     */
    record Row(LocalSlurmJob job, long number, String nodes) {
        /** Returns whether more nodes may follow. */
        boolean isCut() {
            return nodes.length() >= NODES_WIDTH;
        }
    }

    static String format(ExclusiveColumn exclusive) {
        return FORMAT + SqueueRequirements.format(exclusive);
    }

    /**
     * Reads all rows, in the order in which slurmctld starts jobs of one partition: by priority, then by number.
     *
     * @param unknown receives each state that is not known
     */
    static List<Row> read(String text, ExclusiveColumn exclusive, Consumer<String> unknown)
            throws SlurmUnavailableException {
        List<Row> rows = new ArrayList<>();
        for (FixedWidthRow columns : FixedWidthRow.of("squeue", text, MAX_JOBS)) {
            rows.add(row(columns, exclusive, unknown));
        }
        rows.sort(Comparator.comparingLong((Row row) -> -row.job().priority())
                .thenComparingLong(
                        row -> Math.max(row.job().arrayJobId(), row.job().arrayJobId() == 0 ? row.number() : 0))
                .thenComparingLong(row -> taskNumber(row.job().id())));
        return rows;
    }

    private static Row row(FixedWidthRow columns, ExclusiveColumn exclusive, Consumer<String> unknown)
            throws SlurmUnavailableException {
        String id = columns.next(ID_WIDTH);
        long number = number(columns);
        long array = number(columns);
        long hetJob = number(columns);
        long restarts = number(columns);
        long uid = number(columns);
        LocalSlurmJobState state = state(columns, unknown);
        String reason = reason(columns.next(REASON_WIDTH));
        long priority = number(columns);
        String features = columns.next(FEATURES_WIDTH);
        String nodes = columns.next(NODES_WIDTH);
        String admin = columns.next(ADMIN_WIDTH);
        JobRequirements requirements = SqueueRequirements.read(columns, exclusive);
        columns.requireEnd();
        LocalSlurmJob job;
        try {
            job = new LocalSlurmJob(
                    new LocalSlurmJobId(id),
                    TASK.matcher(id).matches() ? array : 0,
                    0,
                    hetJob,
                    (int) restarts,
                    Math.toIntExact(uid),
                    state,
                    reason,
                    priority,
                    NONE.contains(features) ? "" : features,
                    NONE.contains(admin) ? Optional.empty() : Optional.of(admin),
                    requirements,
                    List.of());
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw columns.strange();
        }
        return new Row(job, number, NONE.contains(nodes) ? "" : HostlistExpander.requireFolded(nodes));
    }

    private static long number(FixedWidthRow columns) throws SlurmUnavailableException {
        String text = columns.next(NUMBER_WIDTH);
        if (NONE.contains(text)) {
            return 0;
        }
        if (!NUMBER.matcher(text).matches()) {
            throw columns.strange();
        }
        return Long.parseLong(text);
    }

    private static LocalSlurmJobState state(FixedWidthRow columns, Consumer<String> unknown)
            throws SlurmUnavailableException {
        String text = columns.next(STATE_WIDTH);
        if (ENDS.contains(text)) {
            return LocalSlurmJobState.ENDED;
        }
        LocalSlurmJobState state = STATES.get(text);
        if (state != null) {
            return state;
        }
        if (!STATE.matcher(text).matches()) {
            throw columns.strange();
        }
        unknown.accept(text);
        return LocalSlurmJobState.UNKNOWN;
    }

    /**
     * Returns the reason without the list after {@code ReqNodeNotAvail, UnavailableNodes:...}, which only names
     * placeholders.
     */
    private static String reason(String text) {
        String printable = text.replaceFirst(", UnavailableNodes:.*", "").replaceAll("[^ -~]", "?");
        return NONE.contains(printable) ? "" : printable;
    }

    /** Returns the position of a task or component within its job. */
    private static long taskNumber(LocalSlurmJobId id) {
        Matcher after = Pattern.compile("[_+]([0-9]+)").matcher(id.text());
        return after.find() ? Long.parseLong(after.group(1)) : 0;
    }
}
