package org.cloister.host.control;

/**
 * Process of a job step that requests its VM.
 *
 * @param pid as the kernel reported it when the process connected
 * @param job number in the Global Slurm, from the process's cgroup
 */
public record JobStepCaller(long pid, int uid, long job) {}
