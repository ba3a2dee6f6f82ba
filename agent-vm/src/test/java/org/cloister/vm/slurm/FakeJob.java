package org.cloister.vm.slurm;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A job of the Slurm in memory. */
final class FakeJob {
    private static final Duration ALWAYS = Duration.ofSeconds(-1);

    final int uid;
    JobId id = new JobId("1");
    /** Among jobs of the same priority. */
    long place;

    long array;
    int throttle;
    long set;
    int restarts;
    JobState state = JobState.PENDING;
    String reason = "";
    long priority;
    /** Where nothing holds it. */
    long full;

    String features = LocalSlurm.UNPLACED;
    Optional<String> admin = Optional.of("v=1 features=-");
    Demand demand;
    List<String> nodes = List.of();
    boolean held;
    Duration begin = ALWAYS;
    Optional<JobId> after = Optional.empty();
    Duration ended = Duration.ZERO;

    FakeJob(Demand demand, long priority, int uid) {
        this.demand = demand;
        this.full = priority;
        this.uid = uid;
    }

    static Demand withNodes(Demand demand, int least, int most) {
        return new Demand(
                least,
                most,
                demand.tasks(),
                demand.cpusPerTask(),
                demand.tasksPerNode(),
                demand.memoryMib(),
                demand.memoryOfCpu(),
                demand.scratchMib(),
                demand.exclusive(),
                demand.limit());
    }

    Job shown() {
        return new Job(
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
    void wake(Duration now, List<FakeJob> jobs) {
        boolean begun = reason.equals("BeginTime") && begin.compareTo(now) <= 0;
        boolean followed = reason.equals("Dependency")
                && jobs.stream().noneMatch(job -> job.id.equals(after.orElseThrow()) && job.state != JobState.ENDED);
        if (begun || followed) {
            reason = "ReqNodeNotAvail";
        }
    }

    boolean isEligible() {
        return reason.equals("ReqNodeNotAvail");
    }

    boolean isUnderThrottle(List<FakeJob> jobs) {
        long running = jobs.stream()
                .filter(job -> job.array == array && job.state == JobState.RUNNING)
                .count();
        return throttle == 0 || running < throttle;
    }

    boolean fits(int cpus, long memoryMib) {
        int tasks = demand.tasksPerNode().orElse((demand.tasks() - 1) / demand.leastNodes() + 1);
        long needed = demand.memoryOfCpu() ? demand.memoryMib() * tasks * demand.cpusPerTask() : demand.memoryMib();
        return (long) tasks * demand.cpusPerTask() <= cpus && needed <= memoryMib;
    }

    void start(List<String> on) {
        state = JobState.RUNNING;
        reason = "";
        nodes = on;
    }
}
