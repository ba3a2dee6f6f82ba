package org.cloister.relay.slurm;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.slurm.HostlistExpander;
import org.cloister.slurm.SlurmUnavailableException;

/**
 * Parses a job's nodes from {@code scontrol show job -d}, only for a job whose name is a ticket's id. Slurm prints the
 * nodes before the line of MinCPUsNode, and after it all other text of the submitter, with its line feeds (Comment, and
 * SubmitLine from 26.05 on); that text is not read.
 */
final class NodeAllocationParser {
    private static final Pattern FIRST = Pattern.compile("JobId=([1-9][0-9]{0,9}) JobName=" + GlobalJob.TICKET);
    private static final Pattern NODES =
            Pattern.compile(" +Nodes=(\\S{1,100000}) CPU_IDs=([0-9,-]{1,20000}) Mem=([0-9]{1,8}) GRES=\\S{0,1000}\\s*");
    private static final Pattern ALL_CPUS = Pattern.compile(" +NumNodes=[0-9-]{1,20} NumCPUs=([0-9]{1,8}) .*");
    private static final String AFTER_NODES = "   MinCPUsNode=";
    /** Length at which scontrol of before 25.05.4 cuts a list of CPUs, also within a number: 126 or 127 characters. */
    private static final int CUT = 126;

    private static final Pattern RANGE = Pattern.compile("([0-9]{1,5})(?:-([0-9]{1,5}))?");

    private NodeAllocationParser() {}

    /**
     * Resources of each node in a folded list.
     *
     * @param cpus empty if Slurm has cut the list of them
     */
    record Group(String nodes, OptionalInt cpus, int memoryMib) {}

    /** @param cpus of all nodes together */
    record JobNodes(int cpus, List<Group> groups) {
        JobNodes {
            groups = List.copyOf(groups);
        }

        /**
         * Returns the CPUs of each node of a group whose list was cut: what the others leave.
         *
         * @param known CPUs of all other nodes
         * @param nodes how many nodes the group has
         */
        int cpusOfCutGroup(int known, int nodes) throws SlurmUnavailableException {
            long cut = groups.stream().filter(each -> each.cpus().isEmpty()).count();
            if (cut != 1 || cpus <= known || (cpus - known) % nodes != 0) {
                throw new SlurmUnavailableException("scontrol show job: the lists of CPUs of " + cut
                        + " kinds of nodes are cut; update Slurm to 25.05.4, or let jobs have nodes of one kind");
            }
            return (cpus - known) / nodes;
        }
    }

    static JobNodes parse(long job, String text) throws SlurmUnavailableException {
        List<String> lines = text.lines().toList();
        Matcher first = FIRST.matcher(lines.isEmpty() ? "" : lines.get(0));
        if (!first.matches() || Long.parseLong(first.group(1)) != job) {
            throw new SlurmUnavailableException("scontrol show job: want job " + job + " of a ticket, have "
                    + (lines.isEmpty() ? "nothing" : lines.get(0)));
        }
        OptionalInt cpus = OptionalInt.empty();
        List<Group> groups = new ArrayList<>();
        for (String line : lines) {
            if (line.startsWith(AFTER_NODES) && cpus.isPresent()) {
                return new JobNodes(cpus.getAsInt(), groups);
            }
            Matcher all = ALL_CPUS.matcher(line);
            if (all.matches()) {
                cpus = OptionalInt.of(Integer.parseInt(all.group(1)));
            }
            Matcher nodes = NODES.matcher(line);
            if (nodes.matches()) {
                groups.add(new Group(
                        HostlistExpander.requireFolded(nodes.group(1)),
                        nodes.group(2).length() < CUT ? OptionalInt.of(count(nodes.group(2))) : OptionalInt.empty(),
                        Integer.parseInt(nodes.group(3))));
            }
        }
        throw new SlurmUnavailableException("scontrol show job: want lines of NumCPUs and MinCPUsNode, have none");
    }

    /** Counts CPUs: {@code 0-3,8} are 5. */
    private static int count(String cpus) throws SlurmUnavailableException {
        int count = 0;
        for (String part : cpus.split(",", -1)) {
            Matcher range = RANGE.matcher(part);
            if (!range.matches()) {
                throw new SlurmUnavailableException("scontrol show job: want CPUs such as 0-3,8, have " + cpus);
            }
            int from = Integer.parseInt(range.group(1));
            int to = range.group(2) == null ? from : Integer.parseInt(range.group(2));
            if (to < from) {
                throw new SlurmUnavailableException("scontrol show job: want CPUs such as 0-3,8, have " + cpus);
            }
            count += to - from + 1;
        }
        return count;
    }
}
