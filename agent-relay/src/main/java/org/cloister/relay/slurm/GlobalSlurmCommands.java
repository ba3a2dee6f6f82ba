package org.cloister.relay.slurm;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.slurm.HostlistExpander;
import org.cloister.slurm.SlurmCommand;
import org.cloister.slurm.SlurmRefusedException;
import org.cloister.slurm.SlurmUnavailableException;
import org.cloister.slurm.TicketJobOptions;

/**
 * Implements access to the Global Slurm with Slurm's own commands, 22.05 and newer. Each call runs one or a few
 * programs. Thread-safe.
 *
 * <p>It uses neither {@code scontrol -o} nor JSON: the former prints names and comments unescaped, the latter changes
 * its format between releases.
 */
public final class GlobalSlurmCommands implements GlobalSlurm {
    private static final Pattern SUBMITTED = Pattern.compile("([1-9][0-9]{0,9})(;[A-Za-z0-9_.-]{1,64})?\\s*");
    private static final Pattern ACCOUNTING = Pattern.compile("(?m)^AccountingStorageType\\s*=\\s*(\\S{1,100})\\s*$");
    private static final String NOT_THERE = "Invalid job id specified";
    private static final String IS_ENDING = "Job/step already completing or completed";
    /** Wide enough for 4096 nodes whose names cannot be folded. */
    private static final int WHOLE_NODES_WIDTH = 100_000;
    /** Number of names that fits into one argument list with a wide margin. */
    private static final int NAMES_AT_ONCE = 500;
    /** Start of the accounting query; a relay that was down for longer misses older jobs. */
    private static final String HOW_FAR_BACK = "now-31days";

    /**
     * Messages with which slurmctld refuses a request and discards the job. After any other error, and above all after
     * a failed connection, it is unknown whether the job exists.
     */
    private static final Set<String> REFUSALS = Set.of(
            "Access/permission denied",
            "Invalid account or account/partition combination specified",
            "Invalid feature specification",
            "Invalid partition name specified",
            "Invalid qos specification",
            "Job dependency can't be satisfied",
            "Job size specification needs to be provided",
            "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
            "Memory required by task is not available",
            "More processors requested than permitted",
            "Node count specification invalid",
            "Requested node configuration is not available",
            "Requested partition configuration not available now",
            "Requested time limit is invalid (missing or exceeds some limit)",
            "Required partition not available (inactive or drain)",
            "System submissions disabled",
            "User's group not permitted to use this partition");

    private final GlobalSlurmSettings settings;
    private final SlurmCommand slurm;
    private final HostlistExpander names;

    public GlobalSlurmCommands(GlobalSlurmSettings settings) {
        this.settings = settings;
        this.slurm = new SlurmCommand(settings.programs(), settings.configuration(), settings.limit());
        this.names = new HostlistExpander(slurm);
    }

    @Override
    public String user() {
        return settings.user();
    }

    @Override
    public GlobalPartitions partitions() {
        return settings.partitions();
    }

    @Override
    public void requireOptions() throws SlurmUnavailableException {
        SlurmCommand.Output output = slurm.run("sbatch", TicketJobOptions.SBATCH, "");
        Optional<String> unknown = TicketJobOptions.unknownOption(output.err());
        if (unknown.isPresent()) {
            throw new SlurmUnavailableException(
                    unknown.get() + "; each ticket would fail: install a Slurm that docs/compatibility.md names");
        }
        if (output.exit() != 0) {
            throw new SlurmUnavailableException(
                    "sbatch --version: " + output.complaint() + "; put slurm.conf into /etc/slurm");
        }
    }

    @Override
    public List<GlobalJob> jobs() throws SlurmUnavailableException {
        List<String> all = List.of("-h", "-t", "all", "--user=" + settings.user(), "-O", JobTableParser.SQUEUE_FORMAT);
        List<GlobalJob> jobs = new ArrayList<>();
        for (JobTableParser.Row row : JobTableParser.squeue(slurm.succeed("squeue", all))) {
            jobs.add(job(row, row.cut() ? wholeNodes(row.id()) : row.nodes()));
        }
        return jobs;
    }

    @Override
    public List<GlobalJob> accounted(Collection<String> tickets) throws SlurmUnavailableException {
        List<GlobalJob> jobs = new ArrayList<>();
        if (tickets.isEmpty() || !hasAccounting()) {
            return jobs;
        }
        List<String> left = tickets.stream().distinct().toList();
        if (!left.stream().allMatch(ticket -> GlobalJob.TICKET.matcher(ticket).matches())) {
            throw new IllegalArgumentException("tickets: want ids of 26 characters of base32");
        }
        for (int from = 0; from < left.size(); from += NAMES_AT_ONCE) {
            List<String> some = left.subList(from, Math.min(from + NAMES_AT_ONCE, left.size()));
            String text = slurm.succeed(
                    "sacct",
                    List.of(
                            "-X",
                            "-P",
                            "-n",
                            // Job ids start from the beginning again where a site has lost slurmctld's state.
                            "--duplicates",
                            "--user=" + settings.user(),
                            "--starttime=" + HOW_FAR_BACK,
                            "--format=" + JobTableParser.SACCT_FORMAT,
                            "--name=" + String.join(",", some)));
            for (JobTableParser.Row row : JobTableParser.sacct(text)) {
                jobs.add(job(row, row.nodes()));
            }
        }
        return jobs;
    }

    @Override
    public long submit(JobSubmission what) throws SlurmUnavailableException, SlurmRefusedException {
        SlurmCommand.Output output = slurm.run("sbatch", BatchJob.arguments(what), BatchJob.script(what, settings));
        var submitted = SUBMITTED.matcher(output.out());
        if (output.exit() == 0 && submitted.matches()) {
            return Long.parseLong(submitted.group(1));
        }
        String complaint = output.complaint();
        String reason = complaint.replaceFirst("^Batch job submission failed: ", "");
        if (output.exit() != 0 && output.out().isBlank() && !reason.equals(complaint) && REFUSALS.contains(reason)) {
            throw new SlurmRefusedException(reason);
        }
        throw new SlurmUnavailableException("sbatch: exit status " + output.exit() + ": " + complaint
                + "; squeue shows whether the job exists: squeue --name=" + what.ticket());
    }

    @Override
    public void cancel(long job) throws SlurmUnavailableException {
        SlurmCommand.Output output = slurm.run("scancel", List.of(Long.toString(job)), "");
        String complaint = output.complaint();
        if (output.exit() != 0 && !complaint.endsWith(NOT_THERE) && !complaint.endsWith(IS_ENDING)) {
            throw new SlurmUnavailableException("scancel " + job + ": " + complaint + "; run scontrol ping");
        }
    }

    @Override
    public List<NodeAllocation> shares(long job) throws SlurmUnavailableException {
        SlurmCommand.Output output = slurm.run("scontrol", List.of("show", "job", "-d", Long.toString(job)), "");
        if (output.exit() != 0) {
            if (output.complaint().endsWith(NOT_THERE)) {
                return List.of();
            }
            throw new SlurmUnavailableException(
                    "scontrol show job " + job + ": " + output.complaint() + "; run scontrol ping");
        }
        NodeAllocationParser.JobNodes parsed = NodeAllocationParser.parse(job, output.out());
        int known = 0;
        for (NodeAllocationParser.Group group : parsed.groups()) {
            known += group.cpus().orElse(0) * names.expand(group.nodes()).size();
        }
        List<NodeAllocation> shares = new ArrayList<>();
        for (NodeAllocationParser.Group group : parsed.groups()) {
            List<String> nodes = names.expand(group.nodes());
            int cpus = group.cpus().isPresent() ? group.cpus().getAsInt() : parsed.cpusOfCutGroup(known, nodes.size());
            nodes.forEach(node -> shares.add(new NodeAllocation(node, cpus, group.memoryMib())));
        }
        return shares;
    }

    private boolean hasAccounting() throws SlurmUnavailableException {
        var type = ACCOUNTING.matcher(slurm.succeed("scontrol", List.of("show", "config")));
        if (!type.find()) {
            throw new SlurmUnavailableException("scontrol show config: no AccountingStorageType");
        }
        return !Set.of("accounting_storage/none", "(null)").contains(type.group(1));
    }

    private String wholeNodes(long job) throws SlurmUnavailableException {
        String nodes = slurm.succeed(
                        "squeue",
                        List.of("-h", "-t", "all", "-j", Long.toString(job), "-O", "NodeList:" + WHOLE_NODES_WIDTH))
                .strip();
        return HostlistExpander.requireFolded(nodes);
    }

    private GlobalJob job(JobTableParser.Row row, String folded) throws SlurmUnavailableException {
        return new GlobalJob(row.id(), row.ticket(), row.state(), row.reason(), names.expand(folded));
    }

    /** Describes the settings for a log line at the start. */
    @Override
    public String toString() {
        GlobalPartitions partitions = settings.partitions();
        return "Slurm of partition " + partitions.workers() + ", of controlling VMs "
                + partitions.controllers().orElse("none") + ", as " + settings.user() + ", step "
                + settings.step().stream().collect(Collectors.joining(" "));
    }
}
