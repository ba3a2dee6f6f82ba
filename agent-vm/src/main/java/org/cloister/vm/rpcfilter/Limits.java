package org.cloister.vm.rpcfilter;

import java.time.Duration;

/**
 * Bounds of the filter, of which each but the length keeps one worker from standing in others' way.
 *
 * @param length of a message: Slurm's own bound of a script is 4 MiB, and an environment comes with it
 * @param connections at a time, of all workers; the kernel keeps the next ones until one has ended
 * @param ofWorker connections at a time of one worker
 * @param passed connections to slurmctld at a time, which has 256 threads for them and for everybody else
 * @param passedOfWorker of these, of one worker
 * @param header time for the first bytes
 * @param request time for the whole message; slurmctld itself waits for 10 s
 * @param silence time without a byte in either direction, behind which slurmctld is taken for stuck
 */
record Limits(
        int length,
        int connections,
        int ofWorker,
        int passed,
        int passedOfWorker,
        Duration header,
        Duration request,
        Duration silence) {
    static final Limits PRODUCT = new Limits(
            16 << 20, 1024, 128, 160, 32, Duration.ofSeconds(5), Duration.ofSeconds(20), Duration.ofMinutes(2));
}
