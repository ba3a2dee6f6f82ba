package org.cloister.host.desk;

/**
 * A job step's process that wants its VM.
 *
 * @param pid as the kernel named it when it connected
 * @param job Global Slurm's, from the process's cgroup
 */
public record Caller(long pid, int uid, long job) {}
