package org.cloister.host.slurmstep;

import java.io.IOException;
import java.util.List;
import java.util.regex.Pattern;
import org.cloister.slurm.LogText;
import org.cloister.slurm.SlurmCommand;

/** Queries the Global Slurm about a caller's job. It reads no field that a user can write. */
public final class GlobalJobQuery implements TicketJobs {
    private static final Pattern TICKET = Pattern.compile("[a-z2-7]{26}");
    private static final Pattern SLUID = Pattern.compile("s[0-9A-Z]{13}");
    private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,17}");
    private static final Pattern ACCOUNT = Pattern.compile("[a-z_][a-z0-9_-]{0,31}");
    private static final Pattern NODE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9.-]{0,63}");

    private final SlurmCommand slurm;
    private final String account;
    private final String node;

    /**
     * @param account the relay's user; only jobs of this user carry tickets
     * @param node this host's name in the Global Slurm
     * @throws IllegalArgumentException if squeue would not accept a name as one word
     */
    public GlobalJobQuery(SlurmCommand slurm, String account, String node) {
        require("account", ACCOUNT, account);
        require("node", NODE, node);
        this.slurm = slurm;
        this.account = account;
        this.node = node;
    }

    @Override
    public long numberOf(String sluid) throws IOException {
        require("SLUID", SLUID, sluid);
        // From the version on that has such names squeue knows the column.
        return slurm.succeed("squeue", List.of("-h", "-t", "all", "-u", account, "-w", node, "-O", "JobID:20,Sluid:20"))
                .lines()
                .map(line -> line.strip().split("\\s+", -1))
                .filter(words -> words.length == 2
                        && words[1].equals(sluid)
                        && NUMBER.matcher(words[0]).matches())
                .mapToLong(words -> Long.parseLong(words[0]))
                .findFirst()
                .orElseThrow(() -> new NotInJobStep(
                        "job " + sluid + ": account " + account + " has no such job on node " + node,
                        "only jobs that agent-relay submits may run VMs"));
    }

    @Override
    public boolean isTicketJob(long job, String ticket) throws IOException {
        require("ticket", TICKET, ticket);
        String number = Long.toString(job);
        return slurm.succeed(
                        "squeue", List.of("-h", "-t", "RUNNING", "-u", account, "-n", ticket, "-w", node, "-o", "%A"))
                .lines()
                .anyMatch(line -> line.strip().equals(number));
    }

    private static void require(String what, Pattern form, String value) {
        if (!form.matcher(value).matches()) {
            throw new IllegalArgumentException(what + ": want " + form + ", have " + LogText.printable(value));
        }
    }
}
