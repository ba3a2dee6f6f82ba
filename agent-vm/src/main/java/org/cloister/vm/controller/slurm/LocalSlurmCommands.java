package org.cloister.vm.controller.slurm;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.slurm.FixedWidthRow;
import org.cloister.slurm.HostlistExpander;
import org.cloister.slurm.LogText;
import org.cloister.slurm.SlurmCommand;
import org.cloister.slurm.SlurmRefusedException;
import org.cloister.slurm.SlurmUnavailableException;

/**
 * Accesses the Local Slurm through its commands, 22.05 and newer, as root. Each call runs one or a few programs.
 * Thread-safe.
 */
public final class LocalSlurmCommands implements LocalSlurm {
    /** Sufficient for a job on all placeholder nodes. */
    private static final int WHOLE_NODES_WIDTH = 100_000;

    private static final int MAX_COMPONENTS = 10_000;
    private static final int MAX_COMMENT = 1024;
    private static final Pattern COMMENT = Pattern.compile("[ -~&&[^\\\\\"'`]]{0," + MAX_COMMENT + "}");

    private static final String NO_JOB = "Invalid job id specified";
    private static final String ENDED = "Job has already finished";
    private static final String NO_END = "Unknown";
    /** Answers of sacctmgr for a job that accounting does not have: up to 25.11, and 26.05's. */
    private static final List<String> UNACCOUNTED =
            List.of("Request didn't affect anything", "Data has not changed since time specified");

    private static final String NO_NODE = "Invalid node name specified";

    /**
     * Words in error messages of a failed connection, or of a slurmctld that is absent or stopping; all other messages
     * are its response.
     */
    private static final Pattern NO_ANSWER = Pattern.compile(
            "(?i).*(contact|connect|socket|timed out|zero bytes|message|communication|protocol|authenti|credential"
                    + "|munge|standby|temporarily|shutdown|resolve|slurmdbd|database|persist).*");

    private final SlurmCommand slurm;
    private final HostlistExpander hostlists;
    private final ArrayThrottles throttles;
    private final UnknownStates unknownStates = new UnknownStates();
    /** Column of the installed squeue; empty before its first answer. */
    private Optional<ExclusiveColumn> exclusive = Optional.empty();

    /** @param slurm reaches slurmctld as root, with slurmctld's own slurm.conf or one that includes it */
    public LocalSlurmCommands(SlurmCommand slurm) {
        this.slurm = slurm;
        this.hostlists = new HostlistExpander(slurm);
        this.throttles = new ArrayThrottles(slurm);
    }

    @Override
    public synchronized List<LocalSlurmJob> jobs() throws SlurmUnavailableException {
        if (exclusive.isEmpty()) {
            exclusive = Optional.of(ExclusiveColumn.probe(slurm));
        }
        String format = SqueueOutput.format(exclusive.get());
        List<SqueueOutput.Row> rows = SqueueOutput.read(
                slurm.succeed("squeue", List.of("-h", "-r", "-t", "all", "--noconvert", "-O", format)),
                exclusive.get(),
                unknownStates);
        Set<Long> arrays = rows.stream()
                .map(SqueueOutput.Row::job)
                .filter(job -> job.arrayJobId() != 0 && job.state() == LocalSlurmJobState.PENDING)
                .map(LocalSlurmJob::arrayJobId)
                .collect(Collectors.toSet());
        Map<Long, Integer> throttled = throttles.of(arrays);
        List<LocalSlurmJob> jobs = new ArrayList<>();
        for (SqueueOutput.Row row : rows) {
            jobs.add(withNodes(row, throttled.getOrDefault(row.job().arrayJobId(), 0)));
        }
        return jobs;
    }

    @Override
    public List<LocalSlurmNode> nodes() throws SlurmUnavailableException {
        return SinfoOutput.read(slurm.succeed("sinfo", List.of("-h", "-N", "-O", SinfoOutput.FORMAT)));
    }

    @Override
    public void placeJob(LocalSlurmJobId job, String ticket, int nodes)
            throws SlurmUnavailableException, SlurmRefusedException {
        change(job, LocalSlurm.feature(ticket), nodes + "-" + nodes);
    }

    @Override
    public void unplaceJob(LocalSlurmJobId job, JobRequirements requirements)
            throws SlurmUnavailableException, SlurmRefusedException {
        change(job, LocalSlurm.UNPLACED, SqueueRequirements.nodes(requirements));
    }

    /**
     * Changes a job's features and number of nodes. For a heterogeneous job, scontrol changes the number of nodes only
     * by a component's own number; the first one's is that of the whole job, whose number of nodes it does not change.
     */
    private void change(LocalSlurmJobId job, String features, String nodes)
            throws SlurmUnavailableException, SlurmRefusedException {
        if (job.text().endsWith("+0")) {
            scontrol("update", "jobid=" + job, "features=" + features);
        } else if (job.text().contains("+")) {
            scontrol("update", "jobid=" + componentNumber(job), "features=" + features, "numnodes=" + nodes);
        } else {
            scontrol("update", "jobid=" + job, "features=" + features, "numnodes=" + nodes);
        }
    }

    /** Returns a component's own number; squeue does not accept a component's name as a filter. */
    private long componentNumber(LocalSlurmJobId component) throws SlurmUnavailableException, SlurmRefusedException {
        String set = component.text().substring(0, component.text().indexOf('+'));
        SlurmCommand.Output output =
                slurm.run("squeue", List.of("-h", "-j", set, "-O", "JobArrayID:24|,JobID:12|"), "");
        require("squeue -j " + component, output);
        for (FixedWidthRow columns : FixedWidthRow.of("squeue", output.out(), MAX_COMPONENTS)) {
            String name = columns.next(24);
            String number = columns.next(12);
            if (name.equals(component.text()) && number.matches("[1-9][0-9]{0,9}")) {
                return Long.parseLong(number);
            }
        }
        throw new SlurmRefusedException("job " + component + ": is not pending");
    }

    @Override
    public void holdJob(LocalSlurmJobId job) throws SlurmUnavailableException, SlurmRefusedException {
        // A hold as by its owner: otherwise its owner could not release it.
        scontrol("uhold", job.text());
    }

    @Override
    public void setAdminComment(LocalSlurmJobId job, String text)
            throws SlurmUnavailableException, SlurmRefusedException {
        if (!COMMENT.matcher(text).matches()) {
            throw new IllegalArgumentException("admin comment: want at most " + MAX_COMMENT
                    + " characters of ASCII without backslash and quotation marks, have " + LogText.printable(text));
        }
        if (!updateAdminComment(job, text)) {
            setCommentInAccounting(job, text);
        }
    }

    @Override
    public void saveState(LocalSlurmJob job) throws SlurmUnavailableException, SlurmRefusedException {
        // The smallest change: it sets the present value.
        updateAdminComment(job.id(), job.adminComment().orElse(""));
    }

    /**
     * Sets the comment in slurmctld.
     *
     * @return whether slurmctld still has the job, and it has not ended
     */
    private boolean updateAdminComment(LocalSlurmJobId job, String comment)
            throws SlurmUnavailableException, SlurmRefusedException {
        SlurmCommand.Output output =
                slurm.run("scontrol", List.of("update", "jobid=" + job, "admincomment=" + comment), "");
        if (hasText(output, NO_JOB) || hasText(output, ENDED)) {
            return false;
        }
        require("scontrol update jobid=" + job, output);
        return true;
    }

    @Override
    public void drainNode(String node, String why) throws SlurmUnavailableException, SlurmRefusedException {
        scontrol("update", "nodename=" + node(node), "state=drain", "reason=" + LogText.printable(why));
    }

    @Override
    public void markNodeDown(String node, String why) throws SlurmUnavailableException, SlurmRefusedException {
        scontrol("update", "nodename=" + node(node), "state=down", "reason=" + LogText.printable(why));
    }

    @Override
    public void deleteNode(String node) throws SlurmUnavailableException, SlurmRefusedException {
        SlurmCommand.Output deleted = slurm.run("scontrol", List.of("delete", "nodename=" + node(node)), "");
        if (!isGone(deleted)) {
            require("scontrol delete nodename=" + node, deleted);
        }
    }

    private LocalSlurmJob withNodes(SqueueOutput.Row row, int throttle) throws SlurmUnavailableException {
        LocalSlurmJob job = row.job();
        String folded = row.isCut() ? wholeNodes(row.number()) : row.nodes();
        return new LocalSlurmJob(
                job.id(),
                job.arrayJobId(),
                throttle,
                job.hetJobId(),
                job.restarts(),
                job.uid(),
                job.state(),
                job.reason(),
                job.priority(),
                job.features(),
                job.adminComment(),
                job.requirements(),
                hostlists.expand(folded));
    }

    private String wholeNodes(long job) throws SlurmUnavailableException {
        String nodes = slurm.succeed(
                        "squeue",
                        List.of("-h", "-t", "all", "-j", Long.toString(job), "-O", "NodeList:" + WHOLE_NODES_WIDTH))
                .strip();
        return HostlistExpander.requireFolded(nodes);
    }

    /**
     * Changes the comment in accounting, which permits it when slurmctld has forgotten the job or changes it no longer.
     */
    private void setCommentInAccounting(LocalSlurmJobId job, String text)
            throws SlurmUnavailableException, SlurmRefusedException {
        requireEnd(job);
        SlurmCommand.Output output = slurm.run(
                "sacctmgr", List.of("-i", "modify", "job", "where", "jobid=" + job, "set", "admincomment=" + text), "");
        if (UNACCOUNTED.stream().anyMatch(words -> hasText(output, words))) {
            throw new SlurmRefusedException("sacctmgr modify job " + job + ": accounting does not have it");
        }
        require("sacctmgr modify job " + job, output);
    }

    /**
     * Checks that accounting has the job's end. slurmctld reports the end together with its own comment, late if
     * slurmdbd was not available, and that would overwrite a comment written before.
     */
    private void requireEnd(LocalSlurmJobId job) throws SlurmUnavailableException, SlurmRefusedException {
        SlurmCommand.Output output = slurm.run("sacct", List.of("-n", "-X", "-P", "-j", job.text(), "-o", "End"), "");
        require("sacct -j " + job, output);
        if (output.out().isBlank() || output.out().contains(NO_END)) {
            throw new SlurmRefusedException("sacct -j " + job + ": accounting does not have the job's end");
        }
    }

    private void scontrol(String... arguments) throws SlurmUnavailableException, SlurmRefusedException {
        require("scontrol " + arguments[0] + " " + arguments[1], slurm.run("scontrol", List.of(arguments), ""));
    }

    private static void require(String call, SlurmCommand.Output output)
            throws SlurmUnavailableException, SlurmRefusedException {
        if (output.exit() == 0) {
            return;
        }
        String complaint = output.complaint();
        if (NO_ANSWER.matcher(complaint).matches()) {
            throw new SlurmUnavailableException(call + ": " + complaint + "; ask scontrol ping");
        }
        throw new SlurmRefusedException(call + ": " + complaint);
    }

    private static boolean hasText(SlurmCommand.Output output, String text) {
        return output.exit() != 0
                && (output.err().contains(text) || output.out().contains(text));
    }

    private static boolean isGone(SlurmCommand.Output output) {
        return output.exit() == 0 || hasText(output, NO_NODE);
    }

    private static String node(String name) {
        if (!HostlistExpander.NODE.matcher(name).matches() || name.startsWith(LocalSlurm.PLACEHOLDER_PREFIX)) {
            throw new IllegalArgumentException("node: want a worker's name, have " + name);
        }
        return name;
    }
}
