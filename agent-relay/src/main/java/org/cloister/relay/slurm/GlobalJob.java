package org.cloister.relay.slurm;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Job of the service account.
 *
 * @param id Slurm's job id
 * @param ticket the ticket's id, which is the job's name
 * @param reason why it waits or ended, as Slurm reports it: up to 64 printable characters, empty if Slurm reports no
 *     reason
 * @param nodes in Slurm's order; empty while it has no nodes
 */
public record GlobalJob(long id, String ticket, GlobalJobState state, String reason, List<String> nodes) {
    static final Pattern TICKET = Pattern.compile("[a-z2-7]{26}");
    static final Pattern REASON = Pattern.compile("[ -~]{0,64}");

    public GlobalJob {
        if (id < 1
                || !TICKET.matcher(ticket).matches()
                || !REASON.matcher(reason).matches()) {
            throw new IllegalArgumentException("job: want a number, a ticket's id and a short reason");
        }
        nodes = List.copyOf(nodes);
    }
}
