package org.cloister.vm.worker.steps;

/**
 * Settings of slurmd's unit in addition to those of its package. Jobs' processes are in its cgroup: the unit's limits
 * bound them together, and the limits of their user bound each of them.
 */
final class SlurmdDropIn {
    /** Lower bound, for a job of one CPU, with the threads of a shell, its MPI and its tools. */
    private static final int MIN_PROCESSES = 4096;

    private static final int PROCESSES_PER_CPU = 512;
    /** Half of the kernel's own numbers of processes: the rest is for all that is not the job's. */
    private static final int MAX_PROCESSES = 16_384;
    /** Processes of slurmd, its steps and its scripts. */
    private static final int ROOT_PROCESSES = 1024;

    private SlurmdDropIn() {}

    /**
     * Returns the drop-in's content.
     *
     * @param arguments slurmd's
     * @param cpus of this machine
     */
    static String settings(String arguments, int cpus) {
        int processes = processes(cpus);
        return """
                [Unit]
                ConditionPathExists=
                StartLimitIntervalSec=0
                [Service]
                Type=forking
                PIDFile=/run/slurmd.pid
                # Steps live on without it. It does not start while slurmctld is away.
                Restart=on-failure
                RestartSec=5
                ExecStart=
                ExecStart=/usr/sbin/slurmd %s
                # A job that forks without end gets no more processes, and slurmd still has some to end it with.
                LimitNPROC=%d
                TasksMax=%d
                # Tasks begin at 0 whatever this is: when memory is short they go first.
                OOMScoreAdjust=-800
                OOMPolicy=continue
                # No program's set-user-ID bit makes a job more than its user.
                NoNewPrivileges=yes
                """.formatted(arguments, processes, processes + ROOT_PROCESSES);
    }

    /** Returns the limit of the job's user's processes, including threads. */
    static int processes(int cpus) {
        return Math.min(MAX_PROCESSES, Math.max(MIN_PROCESSES, PROCESSES_PER_CPU * cpus));
    }
}
