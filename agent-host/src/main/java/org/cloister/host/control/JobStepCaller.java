package org.cloister.host.control;

/**
 * A job step's process that wants its VM.
 *
 * @param pid as the kernel named it when it connected
 * @param job Global Slurm's, from the process's cgroup
 */
public record JobStepCaller(long pid, int uid, long job) {}
