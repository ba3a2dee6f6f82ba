package org.cloister.host.slurmstep;

import java.io.IOException;
import java.util.List;
import java.util.regex.Pattern;
import org.cloister.slurm.LogText;
import org.cloister.slurm.SlurmCommand;
import org.cloister.slurm.SlurmUnavailableException;

/** Queries the Global Slurm about a caller's job. It reads no field that a user can write. */
public final class GlobalJobQuery {
    private static final Pattern TICKET = Pattern.compile("[a-z2-7]{26}");
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

    /**
     * Returns whether a job runs on this host, belongs to the service account, and is the ticket's; squeue is asked for
     * such jobs only.
     *
     * @throws SlurmUnavailableException if Slurm did not answer, so that this is unknown
     */
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
