package org.cloister.vm.rpcfilter;

import java.time.Duration;

/**
 * Bounds of the filter, of which each but the length keeps one worker from standing in others' way.
 *
 * @param maxMessageBytes of a message: Slurm's own bound of a script is 4 MiB, and an environment comes with it
 * @param maxConnections at a time, of all workers; the kernel keeps the next ones until one has ended
 * @param maxConnectionsPerWorker connections at a time of one worker
 * @param maxUpstream connections to slurmctld at a time, which has 256 threads for them and for everybody else
 * @param maxUpstreamPerWorker of these, of one worker
 * @param headerTimeout time for the first bytes
 * @param requestTimeout time for the whole message; slurmctld itself waits for 10 s
 * @param idleTimeout time without a byte in either direction, behind which slurmctld is taken for stuck
 */
record RpcFilterLimits(
        int maxMessageBytes,
        int maxConnections,
        int maxConnectionsPerWorker,
        int maxUpstream,
        int maxUpstreamPerWorker,
        Duration headerTimeout,
        Duration requestTimeout,
        Duration idleTimeout) {
    static final RpcFilterLimits PRODUCT = new RpcFilterLimits(
            16 << 20, 1024, 128, 160, 32, Duration.ofSeconds(5), Duration.ofSeconds(20), Duration.ofMinutes(2));
}
