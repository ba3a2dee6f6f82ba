package org.cloister.vm.slurm;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.slurm.Columns;
import org.cloister.slurm.NodeNames;
import org.cloister.slurm.SlurmUnavailable;

/** Reads squeue's columns, none of which a user can write; an array's waiting tasks each have a line ({@code -r}). */
final class QueueTable {
    /** Wide enough for a job of a few nodes; a longer list is asked for by itself. */
    static final int NODES_WIDTH = 96;

    private static final int ID_WIDTH = 24;
    private static final int NUMBER_WIDTH = 12;
    private static final int STATE_WIDTH = 20;
    private static final int REASON_WIDTH = 64;
    private static final int FEATURES_WIDTH = 64;
    /** One more than our own comments have. */
    private static final int ADMIN_WIDTH = 1025;

    private static final int MAX_JOBS = 100_000;

    static final String FORMAT = "JobArrayID:" + ID_WIDTH + "|,JobID:" + NUMBER_WIDTH + "|,ArrayJobID:" + NUMBER_WIDTH
            + "|,HetJobID:" + NUMBER_WIDTH + "|,RestartCnt:" + NUMBER_WIDTH + "|,UserID:" + NUMBER_WIDTH + "|,State:"
            + STATE_WIDTH + "|,Reason:" + REASON_WIDTH + "|,PriorityLong:" + NUMBER_WIDTH + "|,Feature:"
            + FEATURES_WIDTH + "|,NodeList:" + NODES_WIDTH + "|,admin_comment:" + ADMIN_WIDTH + "|,"
            + DemandText.FORMAT;

    private static final Pattern TASK = Pattern.compile("[0-9]{1,10}_[0-9]{1,7}");
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,10}");
    private static final List<String> NONE = List.of("", "(null)", "n/a", "N/A", "None");

    /** Of 22.05 to 24.11; what is not here has ended. */
    private static final Map<String, JobState> STATES = Map.ofEntries(
            Map.entry("PENDING", JobState.PENDING),
            Map.entry("REQUEUED", JobState.PENDING),
            Map.entry("REQUEUE_HOLD", JobState.PENDING),
            Map.entry("REQUEUE_FED", JobState.PENDING),
            Map.entry("RESV_DEL_HOLD", JobState.PENDING),
            Map.entry("SPECIAL_EXIT", JobState.PENDING),
            Map.entry("CONFIGURING", JobState.RUNNING),
            Map.entry("POWER_UP_NODE", JobState.RUNNING),
            Map.entry("RUNNING", JobState.RUNNING),
            Map.entry("SUSPENDED", JobState.RUNNING),
            Map.entry("STOPPED", JobState.RUNNING),
            Map.entry("SIGNALING", JobState.RUNNING),
            Map.entry("RESIZING", JobState.RUNNING),
            Map.entry("STAGE_OUT", JobState.COMPLETING),
            Map.entry("COMPLETING", JobState.COMPLETING));

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

    private QueueTable() {}

    /**
     * A job with its nodes still folded and without its array's throttle.
     *
     * @param number Slurm's own of it, which an array's tasks share until they are split off
     */
    record Row(Job job, long number, String nodes) {
        /** Whether more nodes may follow. */
        boolean isCut() {
            return nodes.length() >= NODES_WIDTH;
        }
    }

    /** In the order in which slurmctld takes jobs of one partition: by priority, then by number. */
    static List<Row> read(String text) throws SlurmUnavailable {
        List<Row> rows = new ArrayList<>();
        for (Columns columns : Columns.of("squeue", text, MAX_JOBS)) {
            rows.add(row(columns));
        }
        rows.sort(Comparator.comparingLong((Row row) -> -row.job().priority())
                .thenComparingLong(row -> Math.max(row.job().array(), row.job().array() == 0 ? row.number() : 0))
                .thenComparingLong(row -> place(row.job().id())));
        return rows;
    }

    private static Row row(Columns columns) throws SlurmUnavailable {
        String id = columns.next(ID_WIDTH);
        long number = number(columns);
        long array = number(columns);
        long set = number(columns);
        long restarts = number(columns);
        long uid = number(columns);
        JobState state = state(columns);
        String reason = reason(columns.next(REASON_WIDTH));
        long priority = number(columns);
        String features = columns.next(FEATURES_WIDTH);
        String nodes = columns.next(NODES_WIDTH);
        String admin = columns.next(ADMIN_WIDTH);
        Demand demand = DemandText.read(columns);
        columns.requireEnd();
        Job job;
        try {
            job = new Job(
                    new JobId(id),
                    TASK.matcher(id).matches() ? array : 0,
                    0,
                    set,
                    (int) restarts,
                    Math.toIntExact(uid),
                    state,
                    reason,
                    priority,
                    NONE.contains(features) ? "" : features,
                    NONE.contains(admin) ? Optional.empty() : Optional.of(admin),
                    demand,
                    List.of());
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw columns.strange();
        }
        return new Row(job, number, NONE.contains(nodes) ? "" : NodeNames.requireFolded(nodes));
    }

    private static long number(Columns columns) throws SlurmUnavailable {
        String text = columns.next(NUMBER_WIDTH);
        if (NONE.contains(text)) {
            return 0;
        }
        if (!NUMBER.matcher(text).matches()) {
            throw columns.strange();
        }
        return Long.parseLong(text);
    }

    private static JobState state(Columns columns) throws SlurmUnavailable {
        String text = columns.next(STATE_WIDTH);
        if (ENDS.contains(text)) {
            return JobState.ENDED;
        }
        JobState state = STATES.get(text);
        if (state == null) {
            throw columns.strange();
        }
        return state;
    }

    /** {@code ReqNodeNotAvail, UnavailableNodes:...} is followed by the block's nodes, which say nothing. */
    private static String reason(String text) {
        String clean = text.replaceFirst(", UnavailableNodes:.*", "").replaceAll("[^ -~]", "?");
        return NONE.contains(clean) ? "" : clean;
    }

    /** Of a task or component among its own. */
    private static long place(JobId id) {
        Matcher after = Pattern.compile("[_+]([0-9]+)").matcher(id.text());
        return after.find() ? Long.parseLong(after.group(1)) : 0;
    }
}
