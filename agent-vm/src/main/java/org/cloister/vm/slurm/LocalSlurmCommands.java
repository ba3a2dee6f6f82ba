package org.cloister.vm.slurm;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.slurm.Bounded;
import org.cloister.slurm.Columns;
import org.cloister.slurm.NodeNames;
import org.cloister.slurm.SlurmProgram;
import org.cloister.slurm.SlurmRefused;
import org.cloister.slurm.SlurmUnavailable;

/**
 * The Local Slurm through its own commands, 22.05 and newer, as root. Each call runs a program or a few; safe for several
 * threads.
 */
public final class LocalSlurmCommands implements LocalSlurm {
    /** Wide enough for a job on the whole block. */
    private static final int WHOLE_NODES_WIDTH = 100_000;

    private static final int MAX_COMPONENTS = 10_000;
    private static final int MAX_COMMENT = 1024;
    private static final Pattern COMMENT = Pattern.compile("[ -~&&[^\\\\\"'`]]{0," + MAX_COMMENT + "}");

    private static final String NO_JOB = "Invalid job id specified";
    private static final String ENDED = "Job has already finished";
    private static final String NO_END = "Unknown";
    private static final String UNACCOUNTED = "Request didn't affect anything";
    private static final String NO_NODE = "Invalid node name specified";

    /** Words of a connection that failed, of a slurmctld that is not there or is ending; all others are its answer. */
    private static final Pattern NO_ANSWER = Pattern.compile(
            "(?i).*(contact|connect|socket|timed out|zero bytes|message|communication|protocol|authenti|credential|munge"
                    + "|standby|temporarily|shutdown|resolve|slurmdbd|database|persist).*");

    private final SlurmProgram slurm;
    private final NodeNames names;
    private final Throttles throttles;
    private final Consumer<Map<String, String>> addresses;

    /**
     * @param slurm that reaches slurmctld as root, with slurmctld's own slurm.conf or one that includes it
     * @param addresses hears, whenever nodes are read, where the slurmd of each is reached, by the node's name
     */
    public LocalSlurmCommands(SlurmProgram slurm, Consumer<Map<String, String>> addresses) {
        this.slurm = slurm;
        this.addresses = addresses;
        this.names = new NodeNames(slurm);
        this.throttles = new Throttles(slurm);
    }

    @Override
    public synchronized List<Job> jobs() throws SlurmUnavailable {
        List<QueueTable.Row> rows = QueueTable.read(
                slurm.succeed("squeue", List.of("-h", "-r", "-t", "all", "--noconvert", "-O", QueueTable.FORMAT)));
        Set<Long> arrays = rows.stream()
                .map(QueueTable.Row::job)
                .filter(job -> job.array() != 0 && job.state() == JobState.PENDING)
                .map(Job::array)
                .collect(Collectors.toSet());
        Map<Long, Integer> throttled = throttles.of(arrays);
        List<Job> jobs = new ArrayList<>();
        for (QueueTable.Row row : rows) {
            jobs.add(whole(row, throttled.getOrDefault(row.job().array(), 0)));
        }
        return jobs;
    }

    @Override
    public List<Node> nodes() throws SlurmUnavailable {
        List<NodeTable.Row> rows = NodeTable.read(slurm.succeed("sinfo", List.of("-h", "-N", "-O", NodeTable.FORMAT)));
        addresses.accept(rows.stream()
                .collect(Collectors.toMap(row -> row.node().name(), NodeTable.Row::address, (one, other) -> one)));
        return rows.stream().map(NodeTable.Row::node).toList();
    }

    @Override
    public void place(JobId job, String ticket, int nodes) throws SlurmUnavailable, SlurmRefused {
        change(job, LocalSlurm.feature(ticket), nodes + "-" + nodes);
    }

    @Override
    public void unplace(JobId job, Demand demand) throws SlurmUnavailable, SlurmRefused {
        change(job, LocalSlurm.UNPLACED, DemandText.nodes(demand));
    }

    /**
     * Of a heterogeneous job scontrol changes the number of nodes by a component's own number alone; that of the first one
     * is the whole job's, whose number of nodes it leaves as it is.
     */
    private void change(JobId job, String features, String nodes) throws SlurmUnavailable, SlurmRefused {
        if (job.text().endsWith("+0")) {
            scontrol("update", "jobid=" + job, "features=" + features);
        } else if (job.text().contains("+")) {
            scontrol("update", "jobid=" + number(job), "features=" + features, "numnodes=" + nodes);
        } else {
            scontrol("update", "jobid=" + job, "features=" + features, "numnodes=" + nodes);
        }
    }

    /** squeue takes no component's name to look for. */
    private long number(JobId component) throws SlurmUnavailable, SlurmRefused {
        String set = component.text().substring(0, component.text().indexOf('+'));
        SlurmProgram.Output output =
                slurm.run("squeue", List.of("-h", "-j", set, "-O", "JobArrayID:24|,JobID:12|"), "");
        require("squeue -j " + component, output);
        for (Columns columns : Columns.of("squeue", output.out(), MAX_COMPONENTS)) {
            String name = columns.next(24);
            String number = columns.next(12);
            if (name.equals(component.text()) && number.matches("[1-9][0-9]{0,9}")) {
                return Long.parseLong(number);
            }
        }
        throw new SlurmRefused("job " + component + ": is not waiting");
    }

    @Override
    public void hold(JobId job) throws SlurmUnavailable, SlurmRefused {
        // As if its owner had held it, or its owner could not release it.
        scontrol("uhold", job.text());
    }

    @Override
    public void comment(JobId job, String text) throws SlurmUnavailable, SlurmRefused {
        if (!COMMENT.matcher(text).matches()) {
            throw new IllegalArgumentException("admin comment: want at most " + MAX_COMMENT
                    + " characters of ASCII without backslash and quotation marks, have " + Bounded.printable(text));
        }
        if (!tell(job, text)) {
            accounting(job, text);
        }
    }

    @Override
    public void save(Job job) throws SlurmUnavailable, SlurmRefused {
        // The least of changes: what is there.
        tell(job.id(), job.admin().orElse(""));
    }

    /** @return whether slurmctld has the job still, and it is not over */
    private boolean tell(JobId job, String comment) throws SlurmUnavailable, SlurmRefused {
        SlurmProgram.Output output =
                slurm.run("scontrol", List.of("update", "jobid=" + job, "admincomment=" + comment), "");
        if (says(output, NO_JOB) || says(output, ENDED)) {
            return false;
        }
        require("scontrol update jobid=" + job, output);
        return true;
    }

    @Override
    public void drain(String node, String why) throws SlurmUnavailable, SlurmRefused {
        scontrol("update", "nodename=" + node(node), "state=drain", "reason=" + Bounded.printable(why));
    }

    @Override
    public void down(String node, String why) throws SlurmUnavailable, SlurmRefused {
        scontrol("update", "nodename=" + node(node), "state=down", "reason=" + Bounded.printable(why));
    }

    @Override
    public void remove(String node) throws SlurmUnavailable, SlurmRefused {
        SlurmProgram.Output deleted = slurm.run("scontrol", List.of("delete", "nodename=" + node(node)), "");
        if (!isGone(deleted)) {
            require("scontrol delete nodename=" + node, deleted);
        }
    }

    private Job whole(QueueTable.Row row, int throttle) throws SlurmUnavailable {
        Job job = row.job();
        String folded = row.isCut() ? wholeNodes(row.number()) : row.nodes();
        return new Job(
                job.id(),
                job.array(),
                throttle,
                job.set(),
                job.restarts(),
                job.uid(),
                job.state(),
                job.reason(),
                job.priority(),
                job.features(),
                job.admin(),
                job.demand(),
                names.unfold(folded));
    }

    private String wholeNodes(long job) throws SlurmUnavailable {
        String nodes = slurm.succeed(
                        "squeue",
                        List.of("-h", "-t", "all", "-j", Long.toString(job), "-O", "NodeList:" + WHOLE_NODES_WIDTH))
                .strip();
        return NodeNames.requireFolded(nodes);
    }

    /** What slurmctld has forgotten, or knows as ended and changes no more, accounting still changes. */
    private void accounting(JobId job, String text) throws SlurmUnavailable, SlurmRefused {
        requireEnd(job);
        SlurmProgram.Output output = slurm.run(
                "sacctmgr", List.of("-i", "modify", "job", "where", "jobid=" + job, "set", "admincomment=" + text), "");
        if (says(output, UNACCOUNTED)) {
            throw new SlurmRefused("sacctmgr modify job " + job + ": accounting does not have it");
        }
        require("sacctmgr modify job " + job, output);
    }

    /**
     * slurmctld tells accounting of a job's end together with the comment that it has itself, late if slurmdbd was away: what
     * is written before is written over.
     */
    private void requireEnd(JobId job) throws SlurmUnavailable, SlurmRefused {
        SlurmProgram.Output output = slurm.run("sacct", List.of("-n", "-X", "-P", "-j", job.text(), "-o", "End"), "");
        require("sacct -j " + job, output);
        if (output.out().isBlank() || output.out().contains(NO_END)) {
            throw new SlurmRefused("sacct -j " + job + ": accounting does not have it, or not yet its end");
        }
    }

    private void scontrol(String... arguments) throws SlurmUnavailable, SlurmRefused {
        require("scontrol " + arguments[0] + " " + arguments[1], slurm.run("scontrol", List.of(arguments), ""));
    }

    private static void require(String what, SlurmProgram.Output output) throws SlurmUnavailable, SlurmRefused {
        if (output.exit() == 0) {
            return;
        }
        String said = output.complaint();
        if (NO_ANSWER.matcher(said).matches()) {
            throw new SlurmUnavailable(what + ": " + said + "; ask scontrol ping");
        }
        throw new SlurmRefused(what + ": " + said);
    }

    private static boolean says(SlurmProgram.Output output, String words) {
        return output.exit() != 0
                && (output.err().contains(words) || output.out().contains(words));
    }

    private static boolean isGone(SlurmProgram.Output output) {
        return output.exit() == 0 || says(output, NO_NODE);
    }

    private static String node(String name) {
        if (!NodeNames.NODE.matcher(name).matches() || name.startsWith(LocalSlurm.BLOCK)) {
            throw new IllegalArgumentException("node: want a worker's name, have " + name);
        }
        return name;
    }
}
