package org.cloister.vm.controller.queue;

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
import org.cloister.slurm.SlurmRefusedException;
import org.cloister.slurm.SlurmUnavailableException;
import org.cloister.vm.controller.slurm.JobRequirements;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.cloister.vm.controller.slurm.LocalSlurmJob;
import org.cloister.vm.controller.slurm.LocalSlurmJobId;
import org.cloister.vm.controller.slurm.LocalSlurmJobState;
import org.cloister.vm.controller.slurm.LocalSlurmNode;

/**
 * Slurm in memory, as far as a queue's controller sees it; its time is what {@link #tick} says. As with
 * {@code SlurmdTimeout=0}, a job runs on nodes without VMs until the controller marks them down. A requeued job names
 * its nodes until it starts again, as after a restart with the job saved as completing on a node that is down.
 */
final class SimulatedSlurm implements LocalSlurm {
    static final String ADMIN = "v=1 features=-";
    private static final long FORGET_MS = 20_000;
    /** 121 s in the real one. */
    private static final long REQUEUED_WAIT_MS = 15_000;

    private static final long WRITE_MS = 6_000;

    final Map<LocalSlurmJobId, FakeSlurmJob> records = new LinkedHashMap<>();
    private final Map<String, FakeSlurmNode> machines = new LinkedHashMap<>();
    /** Which job ran on a ticket's nodes. */
    private final Map<String, LocalSlurmJobId> lastJobs = new HashMap<>();

    /** Nodes without VMs. */
    private final Set<String> lost = new HashSet<>();

    private final Map<FakeSlurmJob, FakeSlurmJob> writtenJobs = new LinkedHashMap<>();
    private final Map<String, FakeSlurmNode> writtenMachines = new LinkedHashMap<>();

    private final FaultInjector faults;
    boolean accounting = true;
    /** How many removals to come are refused, which leave the node down. */
    int stubborn;
    /** Whether nobody can have it write, as if a start were lost before anybody saw it. */
    boolean unsaved;
    /** Whether nodes turn out not to be what jobs asked for. */
    boolean misfits;

    private long nowMs;
    private long writtenMs;

    SimulatedSlurm(FaultInjector faults) {
        this.faults = faults;
    }

    static JobRequirements demand(int nodes) {
        return new JobRequirements(
                nodes, nodes, nodes, 1, OptionalInt.empty(), 100, false, 0, false, Optional.of(Duration.ofMinutes(10)));
    }

    FakeSlurmJob submit(String id, int nodes) {
        FakeSlurmJob job = new FakeSlurmJob(new LocalSlurmJobId(id), demand(nodes));
        records.put(job.id, job);
        return job;
    }

    void cancel(FakeSlurmJob job) {
        if (job.state == LocalSlurmJobState.PENDING) {
            end(job);
        } else if (job.state == LocalSlurmJobState.RUNNING) {
            complete(job);
        }
    }

    void requeue(FakeSlurmJob job) {
        if (job.state == LocalSlurmJobState.RUNNING || job.state == LocalSlurmJobState.COMPLETING) {
            free(job);
            job.state = LocalSlurmJobState.PENDING;
            job.restarts++;
            job.beginMs = nowMs + REQUEUED_WAIT_MS;
        }
    }

    void register(String node, String ticket) {
        machines.putIfAbsent(node, new FakeSlurmNode(LocalSlurm.feature(ticket)));
    }

    void lose(String node) {
        lost.add(node);
        FakeSlurmNode machine = machines.get(node);
        if (machine != null) {
            machine.up = false;
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
        for (FakeSlurmJob job : records.values()) {
            job.become(writtenJobs.getOrDefault(job, new FakeSlurmJob(job.id, job.requirements)));
            if (job.state == LocalSlurmJobState.ENDED && !job.forgotten) {
                job.accounted = job.admin; // as the real one tells accounting anew
            }
        }
        machines.clear();
        writtenMachines.forEach((name, node) -> {
            if (nodesToo || left.contains(name)) {
                machines.put(name, node.copy());
            }
        });
        for (FakeSlurmJob job : records.values()) {
            if (job.state != LocalSlurmJobState.ENDED && !machines.keySet().containsAll(job.nodes)) {
                throw new AssertionError(
                        "job " + job.id + " is COMPLETING for good, for " + job.nodes + " are unknown");
            }
        }
        machines.forEach((name, node) -> {
            node.up &= !lost.contains(name);
        });
    }

    boolean hasNode(String name) {
        return machines.containsKey(name);
    }

    boolean hasNodes() {
        return !machines.isEmpty();
    }

    void tick(long now) {
        nowMs = now;
        if (now - writtenMs >= WRITE_MS) {
            write();
        }
        for (FakeSlurmJob job : records.values()) {
            if (job.state == LocalSlurmJobState.COMPLETING) {
                end(job);
            } else if (job.state == LocalSlurmJobState.RUNNING
                    && now >= job.untilMs
                    && job.nodes.stream().noneMatch(lost::contains)) {
                complete(job);
            } else if (job.state == LocalSlurmJobState.ENDED && now >= job.untilMs + FORGET_MS) {
                job.forgotten = true;
            }
        }
        records.values().forEach(this::schedule);
    }

    private void complete(FakeSlurmJob job) {
        job.state = LocalSlurmJobState.COMPLETING;
        job.untilMs = nowMs;
    }

    private void end(FakeSlurmJob job) {
        free(job);
        job.finish(nowMs);
    }

    private void free(FakeSlurmJob job) {
        for (FakeSlurmNode node : machines.values()) {
            if (node.job.equals(Optional.of(job))) {
                node.job = Optional.empty();
                node.setEndedMs = job.set == 0 ? node.setEndedMs : nowMs;
            }
        }
    }

    private void schedule(FakeSlurmJob first) {
        List<FakeSlurmJob> jobsOfSet = first.set == 0
                ? List.of(first)
                : records.values().stream()
                        .filter(each -> each.set == first.set && each.state != LocalSlurmJobState.ENDED)
                        .toList();
        Map<FakeSlurmJob, List<String>> assignedNodes = new LinkedHashMap<>();
        for (FakeSlurmJob job : jobsOfSet) {
            if (job.state != LocalSlurmJobState.PENDING || !reason(job).equals("Resources")) {
                return;
            }
            List<String> idle = idle(job.features);
            if (idle.size() < job.placed || job.placed == 0) {
                return;
            }
            assignedNodes.put(job, idle.subList(0, job.placed));
        }
        assignedNodes.forEach((job, nodes) -> {
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

    private void run(FakeSlurmJob job, List<String> nodes) {
        LocalSlurmJobId other = lastJobs.putIfAbsent(job.features, job.id);
        if (job.id.equals(other)) {
            refuse(job, nodes);
            return;
        }
        if (other != null) {
            throw new AssertionError("job " + job.id + " starts on " + job.features + ", on which " + other + " ran");
        }
        nodes.forEach(name -> Optional.ofNullable(machines.get(name)).ifPresent(node -> node.job = Optional.of(job)));
        job.nodes = new ArrayList<>(nodes);
        job.state = LocalSlurmJobState.RUNNING;
        job.hasRun = true;
        job.untilMs = nowMs + job.runsMs;
    }

    /** The prolog's answer to a start that is forgotten. */
    private void refuse(FakeSlurmJob job, List<String> nodes) {
        nodes.forEach(name -> Optional.ofNullable(machines.get(name)).ifPresent(node -> node.drained = true));
        job.restarts++;
        job.beginMs = nowMs + REQUEUED_WAIT_MS;
    }

    private String reason(FakeSlurmJob job) {
        if (job.badConstraints) {
            return "BadConstraints";
        }
        if (nowMs < job.beginMs) {
            return "BeginTime";
        }
        long running = records.values().stream()
                .filter(each -> each.array == job.array
                        && (each.state == LocalSlurmJobState.RUNNING || each.state == LocalSlurmJobState.COMPLETING))
                .count();
        if (job.throttle > 0 && running >= job.throttle) {
            return "JobArrayTaskLimit";
        }
        return job.waitsFor.isEmpty() ? "Resources" : job.waitsFor;
    }

    private LocalSlurmJob seen(FakeSlurmJob job) {
        return new LocalSlurmJob(
                job.id,
                job.array,
                job.throttle,
                job.set,
                job.restarts,
                1000,
                job.state,
                job.state == LocalSlurmJobState.PENDING ? reason(job) : "None",
                job.waitsFor.startsWith("JobHeld") || job.badConstraints ? 0 : 1,
                job.features,
                Optional.of(job.admin),
                job.requirements,
                job.nodes);
    }

    @Override
    public List<LocalSlurmJob> jobs() throws SlurmUnavailableException {
        faults.lose();
        return records.values().stream()
                .filter(job -> !job.forgotten)
                .map(this::seen)
                .toList();
    }

    @Override
    public List<LocalSlurmNode> nodes() throws SlurmUnavailableException {
        faults.lose();
        List<LocalSlurmNode> seen = new ArrayList<>();
        machines.forEach((name, node) -> {
            seen.add(new LocalSlurmNode(name, node.feature, node.state(), 4, 1000));
        });
        return seen;
    }

    private FakeSlurmJob waiting(LocalSlurmJobId id) throws SlurmRefusedException {
        return Optional.ofNullable(records.get(id))
                .orElseThrow(() -> new SlurmRefusedException("Invalid job id"))
                .requirePending();
    }

    @Override
    public void placeJob(LocalSlurmJobId id, String ticket, int nodes)
            throws SlurmUnavailableException, SlurmRefusedException {
        faults.lose();
        FakeSlurmJob job = waiting(id);
        job.features = LocalSlurm.feature(ticket);
        job.placed = nodes;
        faults.lose();
    }

    @Override
    public void unplaceJob(LocalSlurmJobId id, JobRequirements requirements)
            throws SlurmUnavailableException, SlurmRefusedException {
        faults.lose();
        FakeSlurmJob job = waiting(id);
        job.features = UNPLACED;
        job.placed = 0;
        job.badConstraints = false;
        faults.lose();
    }

    @Override
    public void holdJob(LocalSlurmJobId id) throws SlurmUnavailableException, SlurmRefusedException {
        faults.lose();
        waiting(id).waitsFor = "JobHeldAdmin";
        faults.lose();
    }

    @Override
    public void saveState(LocalSlurmJob job) throws SlurmUnavailableException {
        faults.lose();
        if (unsaved) {
            throw new SlurmUnavailableException("no answer");
        }
        write();
        faults.lose();
    }

    @Override
    public void setAdminComment(LocalSlurmJobId id, String text)
            throws SlurmUnavailableException, SlurmRefusedException {
        faults.lose();
        FakeSlurmJob job =
                Optional.ofNullable(records.get(id)).orElseThrow(() -> new SlurmRefusedException("Invalid job id"));
        if (job.state == LocalSlurmJobState.ENDED && !accounting) {
            throw new SlurmUnavailableException("slurmdbd does not answer");
        }
        job.say(text);
        faults.lose();
    }

    @Override
    public void drainNode(String name, String why) throws SlurmUnavailableException, SlurmRefusedException {
        faults.lose();
        FakeSlurmNode node = machines.get(name);
        if (node == null) {
            throw new SlurmRefusedException("Invalid node name");
        }
        node.drained = true;
        faults.lose();
    }

    @Override
    public void markNodeDown(String name, String why) throws SlurmUnavailableException, SlurmRefusedException {
        faults.lose();
        FakeSlurmNode node = machines.get(name);
        if (node == null) {
            throw new SlurmRefusedException("Invalid node name");
        }
        node.up = false;
        node.job.ifPresent(this::requeue);
        faults.lose();
    }

    @Override
    public void deleteNode(String name) throws SlurmUnavailableException, SlurmRefusedException {
        faults.lose();
        FakeSlurmNode node = machines.get(name);
        if (node != null) {
            if (nowMs - node.setEndedMs < FakeSlurmNode.DEADLY_MS) {
                throw new AssertionError("slurmctld dies of the removal of " + name);
            }
            if (node.job.isPresent() || stubborn > 0) {
                stubborn--;
                throw new SlurmRefusedException("Requested nodes are busy");
            }
            machines.remove(name);
        }
        faults.lose();
    }
}
