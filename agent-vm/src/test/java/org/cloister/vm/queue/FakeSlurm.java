package org.cloister.vm.queue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.cloister.slurm.SlurmRefused;
import org.cloister.slurm.SlurmUnavailable;
import org.cloister.vm.slurm.Demand;
import org.cloister.vm.slurm.Job;
import org.cloister.vm.slurm.JobId;
import org.cloister.vm.slurm.JobState;
import org.cloister.vm.slurm.LocalSlurm;
import org.cloister.vm.slurm.Node;

/** Slurm in memory, as far as a queue's controller sees it; its time is what {@link #tick} says. */
final class FakeSlurm implements LocalSlurm {
    static final String ADMIN = "v=1 features=-";
    private static final long FORGET_MS = 20_000;
    /** 121 s in the real one. */
    private static final long REQUEUED_WAIT_MS = 15_000;

    private static final long WRITE_MS = 6_000;
    static final long NODE_TIMEOUT_MS = 30_000;

    final Map<JobId, Submitted> records = new LinkedHashMap<>();
    private final Map<String, FakeMachine> machines = new LinkedHashMap<>();
    /** Which job ran on a ticket's nodes. */
    private final Map<String, JobId> ranOn = new HashMap<>();

    /** Nodes without VMs. */
    private final Set<String> lost = new HashSet<>();

    private final Map<Submitted, Submitted> writtenJobs = new LinkedHashMap<>();
    private final Map<String, FakeMachine> writtenMachines = new LinkedHashMap<>();

    private final Mischief mischief;
    boolean accounting = true;
    /** How many removals to come are refused, which leave the node down. */
    int stubborn;
    /** Whether nobody can have it write, as if a start were lost before anybody saw it. */
    boolean unsaved;
    /** Whether nodes turn out not to be what jobs asked for. */
    boolean misfits;

    private long nowMs;
    private long writtenMs;

    FakeSlurm(Mischief mischief) {
        this.mischief = mischief;
    }

    static Demand demand(int nodes) {
        return new Demand(
                nodes, nodes, nodes, 1, OptionalInt.empty(), 100, false, 0, false, Optional.of(Duration.ofMinutes(10)));
    }

    Submitted submit(String id, int nodes) {
        Submitted job = new Submitted(new JobId(id), demand(nodes));
        records.put(job.id, job);
        return job;
    }

    void cancel(Submitted job) {
        if (job.state == JobState.PENDING) {
            end(job);
        } else if (job.state == JobState.RUNNING) {
            complete(job);
        }
    }

    void requeue(Submitted job) {
        if (job.state == JobState.RUNNING || job.state == JobState.COMPLETING) {
            free(job);
            job.state = JobState.PENDING;
            job.restarts++;
            job.beginMs = nowMs + REQUEUED_WAIT_MS;
        }
    }

    void register(String node, String ticket) {
        machines.putIfAbsent(node, new FakeMachine(LocalSlurm.feature(ticket)));
    }

    void lose(String node) {
        lost.add(node);
        FakeMachine machine = machines.get(node);
        if (machine != null && machine.up) {
            machine.up = false;
            machine.downMs = nowMs;
        }
    }

    /** What it knows is on its drive. */
    void write() {
        writtenMs = nowMs;
        writtenJobs.clear();
        records.values().forEach(job -> writtenJobs.put(job, job.copy()));
        writtenMachines.clear();
        machines.forEach((name, node) -> writtenMachines.put(name, node.copy()));
    }

    /**
     * It is killed and comes back with what it has written; users submit again what is lost.
     *
     * @param nodesToo whether nodes that were removed since are there again: it writes them down apart from jobs
     */
    void forget(boolean nodesToo) {
        Set<String> left = Set.copyOf(machines.keySet());
        for (Submitted job : records.values()) {
            job.become(writtenJobs.getOrDefault(job, new Submitted(job.id, job.demand)));
            if (job.state == JobState.ENDED && !job.forgotten) {
                job.accounted = job.admin; // as the real one tells accounting anew
            }
        }
        machines.clear();
        writtenMachines.forEach((name, node) -> {
            if (nodesToo || left.contains(name)) {
                machines.put(name, node.copy());
            }
        });
        for (Submitted job : records.values()) {
            if ((job.state == JobState.RUNNING || job.state == JobState.COMPLETING)
                    && !machines.keySet().containsAll(job.nodes)) {
                throw new AssertionError(
                        "job " + job.id + " is COMPLETING for good, for " + job.nodes + " are unknown");
            }
        }
        machines.forEach((name, node) -> {
            if (node.up && lost.contains(name)) {
                node.up = false;
                node.downMs = nowMs;
            }
        });
    }

    boolean hasNodes() {
        return !machines.isEmpty();
    }

    void tick(long now) {
        nowMs = now;
        if (now - writtenMs >= WRITE_MS) {
            write();
        }
        for (Submitted job : records.values()) {
            if (job.state == JobState.COMPLETING) {
                end(job);
            } else if (job.state == JobState.RUNNING
                    && now >= job.untilMs
                    && job.nodes.stream().noneMatch(lost::contains)) {
                complete(job);
            } else if (job.state == JobState.ENDED && now >= job.untilMs + FORGET_MS) {
                job.forgotten = true;
            } else if (job.state == JobState.RUNNING
                    && machines.values().stream()
                            .anyMatch(node -> node.job.equals(Optional.of(job))
                                    && !node.up
                                    && now - node.downMs > NODE_TIMEOUT_MS)) {
                requeue(job);
            }
        }
        records.values().forEach(this::schedule);
    }

    private void complete(Submitted job) {
        job.state = JobState.COMPLETING;
        job.untilMs = nowMs;
    }

    private void end(Submitted job) {
        free(job);
        job.end(nowMs);
    }

    private void free(Submitted job) {
        for (FakeMachine node : machines.values()) {
            if (node.job.equals(Optional.of(job))) {
                node.job = Optional.empty();
                node.setEndedMs = job.set == 0 ? node.setEndedMs : nowMs;
            }
        }
    }

    private void schedule(Submitted first) {
        List<Submitted> together = first.set == 0
                ? List.of(first)
                : records.values().stream()
                        .filter(each -> each.set == first.set && each.state != JobState.ENDED)
                        .toList();
        Map<Submitted, List<String>> given = new LinkedHashMap<>();
        for (Submitted job : together) {
            if (job.state != JobState.PENDING || !reason(job).equals("Resources")) {
                return;
            }
            List<String> idle = idle(job.features);
            if (idle.size() < job.placed || job.placed == 0) {
                return;
            }
            given.put(job, idle.subList(0, job.placed));
        }
        given.forEach((job, nodes) -> {
            job.badConstraints = misfits;
            if (!misfits) {
                run(job, List.copyOf(nodes));
            }
        });
    }

    private List<String> idle(String feature) {
        return machines.entrySet().stream()
                .filter(each -> each.getValue().feature.equals(feature)
                        && each.getValue().up
                        && !each.getValue().drained
                        && each.getValue().job.isEmpty())
                .map(Map.Entry::getKey)
                .toList();
    }

    private void run(Submitted job, List<String> nodes) {
        JobId other = ranOn.putIfAbsent(job.features, job.id);
        if (job.id.equals(other)) {
            refuse(job, nodes);
            return;
        }
        if (other != null) {
            throw new AssertionError("job " + job.id + " starts on " + job.features + ", on which " + other + " ran");
        }
        nodes.forEach(name -> Optional.ofNullable(machines.get(name)).ifPresent(node -> node.job = Optional.of(job)));
        job.nodes = new ArrayList<>(nodes);
        job.state = JobState.RUNNING;
        job.ran = true;
        job.untilMs = nowMs + job.runsMs;
    }

    /** The prolog's answer to a start that is forgotten. */
    private void refuse(Submitted job, List<String> nodes) {
        nodes.forEach(name -> Optional.ofNullable(machines.get(name)).ifPresent(node -> node.drained = true));
        job.restarts++;
        job.beginMs = nowMs + REQUEUED_WAIT_MS;
    }

    private String reason(Submitted job) {
        if (job.badConstraints) {
            return "BadConstraints";
        }
        if (nowMs < job.beginMs) {
            return "BeginTime";
        }
        long running = records.values().stream()
                .filter(each -> each.array == job.array
                        && (each.state == JobState.RUNNING || each.state == JobState.COMPLETING))
                .count();
        if (job.throttle > 0 && running >= job.throttle) {
            return "JobArrayTaskLimit";
        }
        return job.waitsFor.isEmpty() ? "Resources" : job.waitsFor;
    }

    private Job seen(Submitted job) {
        return new Job(
                job.id,
                job.array,
                job.throttle,
                job.set,
                job.restarts,
                1000,
                job.state,
                job.state == JobState.PENDING ? reason(job) : "None",
                job.waitsFor.startsWith("JobHeld") || job.badConstraints ? 0 : 1,
                job.features,
                Optional.of(job.admin),
                job.demand,
                job.nodes);
    }

    @Override
    public List<Job> jobs() throws SlurmUnavailable {
        mischief.lose();
        return records.values().stream()
                .filter(job -> !job.forgotten)
                .map(this::seen)
                .toList();
    }

    @Override
    public List<Node> nodes() throws SlurmUnavailable {
        mischief.lose();
        List<Node> seen = new ArrayList<>();
        machines.forEach((name, node) -> {
            boolean out = !node.up || node.drained;
            Node.State state = node.job.isPresent()
                    ? (out ? Node.State.LEAVING : Node.State.BUSY)
                    : (out ? Node.State.OUT : Node.State.IDLE);
            seen.add(new Node(name, node.feature, state, 4, 1000));
        });
        return seen;
    }

    private Submitted waiting(JobId id) throws SlurmRefused {
        Submitted job = Optional.ofNullable(records.get(id)).orElseThrow(() -> new SlurmRefused("Invalid job id"));
        if (job.forgotten || job.state != JobState.PENDING) {
            throw new SlurmRefused("Job is no longer pending execution");
        }
        return job;
    }

    @Override
    public void place(JobId id, String ticket, int nodes) throws SlurmUnavailable, SlurmRefused {
        mischief.lose();
        Submitted job = waiting(id);
        job.features = LocalSlurm.feature(ticket);
        job.placed = nodes;
        mischief.lose();
    }

    @Override
    public void unplace(JobId id, Demand demand) throws SlurmUnavailable, SlurmRefused {
        mischief.lose();
        Submitted job = waiting(id);
        job.features = UNPLACED;
        job.placed = 0;
        job.badConstraints = false;
        mischief.lose();
    }

    @Override
    public void hold(JobId id) throws SlurmUnavailable, SlurmRefused {
        mischief.lose();
        waiting(id).waitsFor = "JobHeldAdmin";
        mischief.lose();
    }

    @Override
    public void save(Job job) throws SlurmUnavailable {
        mischief.lose();
        if (unsaved) {
            throw new SlurmUnavailable("no answer");
        }
        write();
        mischief.lose();
    }

    @Override
    public void comment(JobId id, String text) throws SlurmUnavailable, SlurmRefused {
        mischief.lose();
        Submitted job = Optional.ofNullable(records.get(id)).orElseThrow(() -> new SlurmRefused("Invalid job id"));
        if (job.state == JobState.ENDED && !accounting) {
            throw new SlurmUnavailable("slurmdbd does not answer");
        }
        job.say(text);
        mischief.lose();
    }

    @Override
    public void drain(String name, String why) throws SlurmUnavailable, SlurmRefused {
        mischief.lose();
        FakeMachine node = machines.get(name);
        if (node == null) {
            throw new SlurmRefused("Invalid node name");
        }
        node.drained = true;
        mischief.lose();
    }

    @Override
    public void down(String name, String why) throws SlurmUnavailable, SlurmRefused {
        mischief.lose();
        FakeMachine node = machines.get(name);
        if (node == null) {
            throw new SlurmRefused("Invalid node name");
        }
        node.up = false;
        node.job.ifPresent(this::requeue);
        mischief.lose();
    }

    @Override
    public void remove(String name) throws SlurmUnavailable, SlurmRefused {
        mischief.lose();
        FakeMachine node = machines.get(name);
        if (node != null) {
            if (nowMs - node.setEndedMs < FakeMachine.DEADLY_MS) {
                throw new AssertionError("slurmctld dies of the removal of " + name);
            }
            if (node.job.isPresent() || stubborn > 0) {
                stubborn--;
                throw new SlurmRefused("Requested nodes are busy");
            }
            machines.remove(name);
        }
        mischief.lose();
    }
}
