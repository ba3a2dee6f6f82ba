package org.cloister.vm.controller.slurm;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A job of the Slurm in memory. */
final class FakeLocalSlurmJob {
    private static final Duration ALWAYS = Duration.ofSeconds(-1);

    final int uid;
    LocalSlurmJobId id = new LocalSlurmJobId("1");
    /** Among jobs of the same priority. */
    long place;

    long array;
    int throttle;
    long set;
    int restarts;
    LocalSlurmJobState state = LocalSlurmJobState.PENDING;
    String reason = "";
    long priority;
    /** Where nothing holds it. */
    long full;

    String features = LocalSlurm.UNPLACED;
    Optional<String> admin = Optional.of("v=1 features=-");
    JobRequirements demand;
    List<String> nodes = List.of();
    boolean held;
    Duration begin = ALWAYS;
    Optional<LocalSlurmJobId> after = Optional.empty();
    Duration ended = Duration.ZERO;

    FakeLocalSlurmJob(JobRequirements demand, long priority, int uid) {
        this.demand = demand;
        this.full = priority;
        this.uid = uid;
    }

    static JobRequirements withNodes(JobRequirements demand, int least, int most) {
        return new JobRequirements(
                least,
                most,
                demand.tasks(),
                demand.cpusPerTask(),
                demand.tasksPerNode(),
                demand.memoryMib(),
                demand.memoryPerCpu(),
                demand.scratchMib(),
                demand.exclusive(),
                demand.timeLimit());
    }

    LocalSlurmJob shown() {
        return new LocalSlurmJob(
                id, array, throttle, set, restarts, uid, state, reason, priority, features, admin, demand, nodes);
    }

    /** Begins to wait, with the reason that there is at once. */
    void wait(Duration now) {
        priority = held ? 0 : full;
        if (held) {
            reason = "JobHeldUser";
        } else if (begin.compareTo(now) > 0) {
            reason = "BeginTime";
        } else {
            reason = after.isPresent() ? "Dependency" : "ReqNodeNotAvail";
        }
    }

    /** What it waited for may have come. */
    void wake(Duration now, List<FakeLocalSlurmJob> jobs) {
        boolean journal = reason.equals("BeginTime") && begin.compareTo(now) <= 0;
        boolean followed = reason.equals("Dependency")
                && jobs.stream()
                        .noneMatch(job -> job.id.equals(after.orElseThrow()) && job.state != LocalSlurmJobState.ENDED);
        if (journal || followed) {
            reason = "ReqNodeNotAvail";
        }
    }

    boolean isEligible() {
        return reason.equals("ReqNodeNotAvail");
    }

    boolean isUnderThrottle(List<FakeLocalSlurmJob> jobs) {
        long running = jobs.stream()
                .filter(job -> job.array == array && job.state == LocalSlurmJobState.RUNNING)
                .count();
        return throttle == 0 || running < throttle;
    }

    boolean fits(int cpus, long memoryMib) {
        int tasks = demand.tasksPerNode().orElse((demand.tasks() - 1) / demand.minNodes() + 1);
        long needed = demand.memoryPerCpu() ? demand.memoryMib() * tasks * demand.cpusPerTask() : demand.memoryMib();
        return (long) tasks * demand.cpusPerTask() <= cpus && needed <= memoryMib;
    }

    void start(List<String> on) {
        state = LocalSlurmJobState.RUNNING;
        reason = "";
        nodes = on;
    }
}
