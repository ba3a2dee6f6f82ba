package org.cloister.relay.tickets;

import java.time.Duration;

/**
 * How long things of tickets may take.
 *
 * @param bootTime of a worker VM to start, beside the job's time
 * @param eraseTime of its erasure
 * @param pollInterval from one question to Slurm to the next
 * @param submissionSettleTime after the end of an sbatch without an answer, until its job can be seen if there is one:
 *     several times what Slurm waits for a message at most (MessageTimeout, 10 s)
 * @param hostTimeout that a job's nodes may wait for their hosts to be attached
 * @param vlanLease of a VLAN to a project without tickets and without a controlling VM here
 */
public record TicketTimeouts(
        Duration bootTime,
        Duration eraseTime,
        Duration pollInterval,
        Duration submissionSettleTime,
        Duration hostTimeout,
        Duration vlanLease) {
    public static final TicketTimeouts DEFAULT = new TicketTimeouts(
            Duration.ofMinutes(10),
            Duration.ofMinutes(5),
            Duration.ofSeconds(2),
            Duration.ofSeconds(60),
            Duration.ofMinutes(5),
            Duration.ofHours(8));
}
