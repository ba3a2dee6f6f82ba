package org.cloister.relay.tickets;

import java.time.Duration;

/**
 * Time limits of tickets.
 *
 * @param bootTime time for a worker VM to start, in addition to the job's time
 * @param eraseTime time for its erasure
 * @param pollInterval time between two queries to Slurm
 * @param submissionSettleTime time after the end of an unanswered sbatch until its job, if there is one, is visible:
 *     several times Slurm's maximum wait for a message (MessageTimeout, 10 s)
 * @param hostTimeout time for which a job's nodes may wait for their hosts to be attached
 * @param vlanLease time for which a project without tickets and without an attached controlling VM keeps its VLAN
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
