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
    JobRequirements requirements;
    List<String> nodes = List.of();
    boolean held;
    Duration begin = ALWAYS;
    Optional<LocalSlurmJobId> after = Optional.empty();
    Duration ended = Duration.ZERO;

    FakeLocalSlurmJob(JobRequirements requirements, long priority, int uid) {
        this.requirements = requirements;
        this.full = priority;
        this.uid = uid;
    }

    static JobRequirements withNodes(JobRequirements requirements, int least, int most) {
        return new JobRequirements(
                least,
                most,
                requirements.tasks(),
                requirements.cpusPerTask(),
                requirements.tasksPerNode(),
                requirements.memoryMib(),
                requirements.memoryPerCpu(),
                requirements.scratchMib(),
                requirements.exclusive(),
                requirements.timeLimit());
    }

    LocalSlurmJob shown() {
        return new LocalSlurmJob(
                id, array, throttle, set, restarts, uid, state, reason, priority, features, admin, requirements, nodes);
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
        int tasks = requirements.tasksPerNode().orElse((requirements.tasks() - 1) / requirements.minNodes() + 1);
        long needed = requirements.memoryPerCpu()
                ? requirements.memoryMib() * tasks * requirements.cpusPerTask()
                : requirements.memoryMib();
        return (long) tasks * requirements.cpusPerTask() <= cpus && needed <= memoryMib;
    }

    void start(List<String> on) {
        state = LocalSlurmJobState.RUNNING;
        reason = "";
        nodes = on;
    }
}
