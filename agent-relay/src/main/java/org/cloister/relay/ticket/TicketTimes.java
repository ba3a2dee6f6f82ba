package org.cloister.relay.ticket;

import java.time.Duration;

/**
 * How long things of tickets may take.
 *
 * @param boot of a worker VM to start, beside the job's time
 * @param erase of its erasure
 * @param look from one question to Slurm to the next
 * @param settle after the end of an sbatch without an answer, until its job can be seen if there is one: several times what
 *     Slurm waits for a message at most (MessageTimeout, 10 s)
 * @param hosts that a job's nodes may wait for their hosts to be attached
 * @param lease of a VLAN to a project without tickets and without a controlling VM here
 */
public record TicketTimes(
        Duration boot, Duration erase, Duration look, Duration settle, Duration hosts, Duration lease) {
    public static final TicketTimes DEFAULT = new TicketTimes(
            Duration.ofMinutes(10),
            Duration.ofMinutes(5),
            Duration.ofSeconds(2),
            Duration.ofSeconds(60),
            Duration.ofMinutes(5),
            Duration.ofHours(8));
}
