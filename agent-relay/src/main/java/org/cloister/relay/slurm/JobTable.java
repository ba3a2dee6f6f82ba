package org.cloister.relay.slurm;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.cloister.slurm.Columns;
import org.cloister.slurm.NodeNames;
import org.cloister.slurm.SlurmUnavailable;

/**
 * Reads what squeue and sacct print. Of squeue only columns of fixed width are taken, of which no user but the service
 * account writes any; a line that is otherwise ends the reading, for then none can be trusted.
 */
final class JobTable {
    /** Wide enough for a job on a few hundred well-named nodes; a longer list is asked for by itself. */
    static final int NODES_WIDTH = 256;

    private static final int ID_WIDTH = 24;
    private static final int STATE_WIDTH = 32;
    private static final int REASON_WIDTH = 64;
    private static final int NAME_WIDTH = 64;

    static final String SQUEUE_FORMAT = "JobID:" + ID_WIDTH + "|,State:" + STATE_WIDTH + "|,Reason:" + REASON_WIDTH
            + "|,NodeList:" + NODES_WIDTH + "|,Name:" + NAME_WIDTH + "|";
    /** The name comes last, so that what stands in it moves no other field. */
    static final String SACCT_FORMAT = "JobIDRaw,State,NodeList,Reason,JobName";

    private static final Pattern ID = Pattern.compile("[1-9][0-9]{0,9}");
    private static final List<String> NO_NODES = List.of("", "(null)", "n/a", "None assigned");
    private static final int MAX_JOBS = 100_000;

    /** Of 22.05 to 24.11. */
    private static final Map<String, JobState> STATES = Map.ofEntries(
            Map.entry("PENDING", JobState.PENDING),
            Map.entry("REQUEUED", JobState.PENDING),
            Map.entry("REQUEUE_HOLD", JobState.PENDING),
            Map.entry("REQUEUE_FED", JobState.PENDING),
            Map.entry("RESV_DEL_HOLD", JobState.PENDING),
            Map.entry("SPECIAL_EXIT", JobState.PENDING),
            Map.entry("CONFIGURING", JobState.PENDING),
            Map.entry("POWER_UP_NODE", JobState.PENDING),
            Map.entry("RUNNING", JobState.RUNNING),
            Map.entry("SUSPENDED", JobState.RUNNING),
            Map.entry("STOPPED", JobState.RUNNING),
            Map.entry("SIGNALING", JobState.RUNNING),
            Map.entry("RESIZING", JobState.RUNNING),
            Map.entry("COMPLETING", JobState.ENDING),
            Map.entry("STAGE_OUT", JobState.ENDING),
            Map.entry("COMPLETED", JobState.COMPLETED),
            Map.entry("FAILED", JobState.FAILED),
            Map.entry("OUT_OF_MEMORY", JobState.FAILED),
            Map.entry("CANCELLED", JobState.CANCELLED),
            Map.entry("REVOKED", JobState.CANCELLED),
            Map.entry("TIMEOUT", JobState.TIMEOUT),
            Map.entry("DEADLINE", JobState.TIMEOUT),
            Map.entry("NODE_FAIL", JobState.NODE_FAILED),
            Map.entry("BOOT_FAIL", JobState.NODE_FAILED),
            Map.entry("LAUNCH_FAILED", JobState.NODE_FAILED),
            Map.entry("RECONFIG_FAIL", JobState.NODE_FAILED),
            Map.entry("PREEMPTED", JobState.PREEMPTED));

    private JobTable() {}

    /**
     * A job with its nodes still folded.
     *
     * @param nodes such as {@code h[1-4,7]}; empty for none
     * @param cut whether the list filled its column, so that more may follow
     */
    record Row(long id, String ticket, JobState state, String reason, String nodes, boolean cut) {}

    /** Jobs of other names than tickets' are left out. */
    static List<Row> squeue(String text) throws SlurmUnavailable {
        List<Row> rows = new ArrayList<>();
        for (Columns columns : Columns.of("squeue", text, MAX_JOBS)) {
            String id = columns.next(ID_WIDTH);
            String state = columns.next(STATE_WIDTH);
            String reason = columns.next(REASON_WIDTH);
            String nodes = columns.next(NODES_WIDTH);
            String name = columns.next(NAME_WIDTH);
            columns.requireEnd();
            if (Job.TICKET.matcher(name).matches()) {
                rows.add(row("squeue", id, name, state, reason, nodes));
            }
        }
        return rows;
    }

    static List<Row> sacct(String text) throws SlurmUnavailable {
        List<Row> rows = new ArrayList<>();
        for (String line : lines(text)) {
            String[] fields = line.split("\\|", 5);
            if (fields.length != 5) {
                throw strange("sacct", line);
            }
            if (Job.TICKET.matcher(fields[4]).matches()) {
                // "CANCELLED by 1000"
                String state = fields[1].replaceFirst(" by [0-9]{1,10}$", "");
                Row row = row("sacct", fields[0], fields[4], state, fields[3], fields[2]);
                if (row.state().hasEnded()) {
                    rows.add(row);
                }
            }
        }
        return rows;
    }

    private static Row row(String program, String id, String name, String state, String reason, String nodes)
            throws SlurmUnavailable {
        JobState known = STATES.get(state);
        if (known == null || !ID.matcher(id).matches()) {
            throw strange(program, id + " " + state);
        }
        String clean = reason.equals("None") ? "" : reason.replaceAll("[^ -~]", "?");
        String folded = NO_NODES.contains(nodes) ? "" : NodeNames.requireFolded(nodes);
        return new Row(
                Long.parseLong(id),
                name,
                known,
                clean.substring(0, Math.min(clean.length(), REASON_WIDTH)),
                folded,
                program.equals("squeue") && nodes.length() >= NODES_WIDTH);
    }

    private static List<String> lines(String text) throws SlurmUnavailable {
        List<String> lines = text.lines().toList();
        if (lines.size() > MAX_JOBS) {
            throw new SlurmUnavailable("sacct: more than " + MAX_JOBS + " jobs");
        }
        return lines;
    }

    private static SlurmUnavailable strange(String program, String line) {
        return new SlurmUnavailable(program + ": a line that is not as asked for: " + line);
    }
}
