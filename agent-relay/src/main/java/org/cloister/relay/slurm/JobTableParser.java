package org.cloister.relay.slurm;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.cloister.slurm.FixedWidthRow;
import org.cloister.slurm.HostlistExpander;
import org.cloister.slurm.SlurmUnavailableException;

/**
 * Parses the output of squeue and sacct. From squeue it uses only columns of fixed width whose content no user but the
 * service account can choose; a line of another form fails the whole output, because then no line can be trusted.
 */
final class JobTableParser {
    /** Wide enough for a job on a few hundred nodes with regular names; a longer list is queried separately. */
    static final int NODES_WIDTH = 256;

    private static final int ID_WIDTH = 24;
    private static final int STATE_WIDTH = 32;
    private static final int REASON_WIDTH = 64;
    private static final int NAME_WIDTH = 64;

    static final String SQUEUE_FORMAT = "JobID:" + ID_WIDTH + "|,State:" + STATE_WIDTH + "|,Reason:" + REASON_WIDTH
            + "|,NodeList:" + NODES_WIDTH + "|,Name:" + NAME_WIDTH + "|";
    /** The name is the last column, so that its content cannot shift another field. */
    static final String SACCT_FORMAT = "JobIDRaw,State,NodeList,Reason,JobName";

    private static final Pattern ID = Pattern.compile("[1-9][0-9]{0,9}");
    private static final Pattern STATE = Pattern.compile("[A-Z][A-Z_]{1,30}");
    private static final List<String> NO_NODES = List.of("", "(null)", "n/a", "None assigned");
    private static final int MAX_JOBS = 100_000;

    /** Job states of Slurm 22.05 to 24.11. */
    private static final Map<String, GlobalJobState> STATES = Map.ofEntries(
            Map.entry("PENDING", GlobalJobState.PENDING),
            Map.entry("REQUEUED", GlobalJobState.PENDING),
            Map.entry("REQUEUE_HOLD", GlobalJobState.PENDING),
            Map.entry("REQUEUE_FED", GlobalJobState.PENDING),
            Map.entry("RESV_DEL_HOLD", GlobalJobState.PENDING),
            Map.entry("SPECIAL_EXIT", GlobalJobState.PENDING),
            Map.entry("CONFIGURING", GlobalJobState.PENDING),
            Map.entry("POWER_UP_NODE", GlobalJobState.PENDING),
            Map.entry("RUNNING", GlobalJobState.RUNNING),
            Map.entry("SUSPENDED", GlobalJobState.RUNNING),
            Map.entry("STOPPED", GlobalJobState.RUNNING),
            Map.entry("SIGNALING", GlobalJobState.RUNNING),
            Map.entry("RESIZING", GlobalJobState.RUNNING),
            Map.entry("COMPLETING", GlobalJobState.ENDING),
            Map.entry("STAGE_OUT", GlobalJobState.ENDING),
            Map.entry("COMPLETED", GlobalJobState.COMPLETED),
            Map.entry("FAILED", GlobalJobState.FAILED),
            Map.entry("OUT_OF_MEMORY", GlobalJobState.FAILED),
            Map.entry("CANCELLED", GlobalJobState.CANCELLED),
            Map.entry("REVOKED", GlobalJobState.CANCELLED),
            Map.entry("TIMEOUT", GlobalJobState.TIMEOUT),
            Map.entry("DEADLINE", GlobalJobState.TIMEOUT),
            Map.entry("NODE_FAIL", GlobalJobState.NODE_FAILED),
            Map.entry("BOOT_FAIL", GlobalJobState.NODE_FAILED),
            Map.entry("LAUNCH_FAILED", GlobalJobState.NODE_FAILED),
            Map.entry("RECONFIG_FAIL", GlobalJobState.NODE_FAILED),
            Map.entry("PREEMPTED", GlobalJobState.PREEMPTED));

    private JobTableParser() {}

    /**
     * Job whose nodes are still folded.
     *
     * @param nodes such as {@code h[1-4,7]}; empty for none
     * @param cut whether the list filled its column, so that it may be truncated
     */
    record Row(long id, String ticket, GlobalJobState state, String reason, String nodes, boolean cut) {}

    /** Parses the output of squeue; leaves out jobs whose names are not ticket ids. */
    static List<Row> squeue(String text) throws SlurmUnavailableException {
        List<Row> rows = new ArrayList<>();
        for (FixedWidthRow columns : FixedWidthRow.of("squeue", text, MAX_JOBS)) {
            String id = columns.next(ID_WIDTH);
            String state = columns.next(STATE_WIDTH);
            String reason = columns.next(REASON_WIDTH);
            String nodes = columns.next(NODES_WIDTH);
            String name = columns.next(NAME_WIDTH);
            columns.requireEnd();
            if (GlobalJob.TICKET.matcher(name).matches()) {
                rows.add(row("squeue", id, name, state, reason, nodes));
            }
        }
        return rows;
    }

    static List<Row> sacct(String text) throws SlurmUnavailableException {
        List<Row> rows = new ArrayList<>();
        for (String line : lines(text)) {
            String[] fields = line.split("\\|", 5);
            if (fields.length != 5) {
                throw unexpectedLine("sacct", line);
            }
            if (GlobalJob.TICKET.matcher(fields[4]).matches()) {
                // such as "CANCELLED by 1000"
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
            throws SlurmUnavailableException {
        if (!STATE.matcher(state).matches() || !ID.matcher(id).matches()) {
            throw unexpectedLine(program, id + " " + state);
        }
        String clean = reason.equals("None") ? "" : reason.replaceAll("[^ -~]", "?");
        String folded = NO_NODES.contains(nodes) ? "" : HostlistExpander.requireFolded(nodes);
        return new Row(
                Long.parseLong(id),
                name,
                // Newer releases of Slurm have other states; one such job does not hide all others.
                STATES.getOrDefault(state, GlobalJobState.UNKNOWN),
                clean.substring(0, Math.min(clean.length(), REASON_WIDTH)),
                folded,
                program.equals("squeue") && nodes.length() >= NODES_WIDTH);
    }

    private static List<String> lines(String text) throws SlurmUnavailableException {
        List<String> lines = text.lines().toList();
        if (lines.size() > MAX_JOBS) {
            throw new SlurmUnavailableException("sacct: more than " + MAX_JOBS + " jobs");
        }
        return lines;
    }

    private static SlurmUnavailableException unexpectedLine(String program, String line) {
        return new SlurmUnavailableException(
                program + ": a line of its output does not have the requested format: " + line);
    }
}
