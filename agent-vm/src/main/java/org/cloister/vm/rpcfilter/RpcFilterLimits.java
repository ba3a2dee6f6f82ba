package org.cloister.vm.rpcfilter;

import java.time.Duration;

/**
 * Limits of the filter; each but the length keeps one worker from blocking others.
 *
 * @param maxMessageBytes of a message: Slurm's own bound of a script is 4 MiB, and an environment comes with it
 * @param maxConnections of all workers at a time; the kernel queues further ones until one has ended
 * @param maxConnectionsPerWorker connections at a time of one worker
 * @param maxUpstream connections to slurmctld at a time, which has 256 threads for these and all other clients
 * @param maxUpstreamPerWorker of these, of one worker
 * @param headerTimeout time for the first bytes
 * @param requestTimeout time for the whole message; slurmctld itself waits for 10 s
 * @param idleTimeout time without a byte in either direction, after which slurmctld is considered stuck
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
