package org.cloister.vm.slurm;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.cloister.slurm.SlurmRefused;
import org.cloister.slurm.SlurmUnavailable;

/**
 * A Local Slurm in memory, as {@code job_submit.lua} leaves its jobs: they wait by priority and number, start on nodes that
 * have their feature, each node one job's, and run until they are ended. It can be down. For several threads; its clock is
 * moved by {@link #advance}.
 */
public final class FakeLocalSlurm implements LocalSlurm {
    private static final int PRIORITY = 100_000;
    private static final int UID = 2001;
    private static final Duration REQUEUED_WAITS = Duration.ofSeconds(121);
    private static final Duration KEPT = Duration.ofMinutes(5);

    private final List<FakeJob> jobs = new ArrayList<>();
    private final Map<String, FakeNode> nodes = new LinkedHashMap<>();
    private final Map<JobId, String> accounted = new LinkedHashMap<>();
    private long last;
    private Duration now = Duration.ZERO;
    private boolean answers = true;

    private static final class FakeNode {
        final String name;
        final String feature;
        final int cpus;
        final long memoryMib;
        boolean drained;
        boolean lost;

        FakeNode(String name, String feature, int cpus, long memoryMib) {
            this.name = name;
            this.feature = feature;
            this.cpus = cpus;
            this.memoryMib = memoryMib;
        }
    }

    @Override
    public synchronized List<Job> jobs() throws SlurmUnavailable {
        requireAnswer();
        return jobs.stream()
                .sorted(Comparator.comparingLong((FakeJob job) -> -job.priority).thenComparingLong(job -> job.place))
                .map(FakeJob::shown)
                .toList();
    }

    @Override
    public synchronized List<Node> nodes() throws SlurmUnavailable {
        requireAnswer();
        return nodes.values().stream()
                .map(node -> new Node(node.name, node.feature, state(node), node.cpus, node.memoryMib))
                .toList();
    }

    @Override
    public synchronized void place(JobId job, String ticket, int count) throws SlurmUnavailable, SlurmRefused {
        change(waiting(job), LocalSlurm.feature(ticket), count, count);
        schedule();
    }

    @Override
    public synchronized void unplace(JobId job, Demand demand) throws SlurmUnavailable, SlurmRefused {
        change(waiting(job), LocalSlurm.UNPLACED, demand.leastNodes(), demand.mostNodes());
    }

    @Override
    public synchronized void hold(JobId job) throws SlurmUnavailable, SlurmRefused {
        // As Slurm does, of a job that runs too.
        FakeJob found = find(job);
        found.held = true;
        if (found.state == JobState.PENDING) {
            found.priority = 0;
            found.reason = "JobHeldUser";
        }
    }

    @Override
    public synchronized void comment(JobId job, String text) throws SlurmUnavailable, SlurmRefused {
        requireAnswer();
        Optional<FakeJob> known = jobs.stream()
                .filter(each -> each.id.equals(job) && each.state != JobState.ENDED)
                .findFirst();
        if (known.isPresent()) {
            known.get().admin = Optional.of(text);
        } else if (accounted.replace(job, text) == null) {
            throw new SlurmRefused("job " + job + ": not known to accounting");
        }
    }

    /** It has nothing but its memory. */
    @Override
    public synchronized void save(Job job) throws SlurmUnavailable {
        requireAnswer();
    }

    @Override
    public synchronized void drain(String node, String why) throws SlurmUnavailable, SlurmRefused {
        requireAnswer();
        FakeNode found = nodes.get(node);
        if (found == null) {
            throw new SlurmRefused("node " + node + ": Invalid node name specified");
        }
        found.drained = true;
    }

    @Override
    public synchronized void down(String node, String why) throws SlurmUnavailable, SlurmRefused {
        drain(node, why);
        for (FakeJob job : List.copyOf(jobs)) {
            if (job.state == JobState.RUNNING && job.nodes.contains(node)) {
                again(job);
            }
        }
    }

    @Override
    public synchronized void remove(String node) throws SlurmUnavailable, SlurmRefused {
        requireAnswer();
        if (jobs.stream().anyMatch(job -> job.state == JobState.RUNNING && job.nodes.contains(node))) {
            throw new SlurmRefused("scontrol delete nodename=" + node + ": Requested nodes are busy");
        }
        nodes.remove(node);
    }

    /** @param options of sbatch: hold, begin, dependency=afterok, nice; others say nothing here but array */
    public synchronized JobId submit(Demand demand, String... options) {
        FakeJob job = new FakeJob(demand, PRIORITY, UID);
        String array = "";
        for (String option : options) {
            String value = option.substring(option.indexOf('=') + 1);
            switch (option.split("=", 2)[0]) {
                case "--hold" -> job.held = true;
                case "--begin" -> job.begin = Duration.ofHours(1).plus(now);
                case "--dependency" -> job.after = Optional.of(new JobId(value.split(":", 2)[1]));
                case "--nice" -> job.full = PRIORITY - Long.parseLong(value);
                case "--array" -> array = value;
                default -> {}
            }
        }
        last++;
        if (array.isEmpty()) {
            add(job, new JobId(Long.toString(last)), last);
            return job.id;
        }
        String[] parts = array.split("[-%]", -1);
        for (int task = Integer.parseInt(parts[0]); task <= Integer.parseInt(parts[1]); task++) {
            FakeJob each = new FakeJob(demand, PRIORITY, UID);
            each.array = last;
            each.throttle = parts.length > 2 ? Integer.parseInt(parts[2]) : 0;
            add(each, new JobId(last + "_" + task), last);
        }
        return new JobId(Long.toString(last));
    }

    public synchronized List<JobId> submitSet(Demand... demands) {
        long first = last + 1;
        List<JobId> ids = new ArrayList<>();
        for (Demand demand : demands) {
            last++;
            FakeJob job = new FakeJob(demand, PRIORITY, UID);
            job.set = first;
            add(job, new JobId(first + "+" + ids.size()), last);
            ids.add(job.id);
        }
        return ids;
    }

    /** A slurmd registers. */
    public synchronized void join(String node, String ticket, int cpus, long memoryMib) {
        nodes.put(node, new FakeNode(node, LocalSlurm.feature(ticket), cpus, memoryMib));
        schedule();
    }

    /** A node is not heard of any more; its jobs are requeued. */
    public synchronized void lose(String node) {
        FakeNode found = nodes.get(node);
        if (found == null) {
            throw new IllegalArgumentException("node: no " + node);
        }
        found.lost = true;
        jobs.stream()
                .filter(job -> job.state == JobState.RUNNING && job.nodes.contains(node))
                .toList()
                .forEach(this::again);
    }

    public synchronized void release(JobId job) throws SlurmUnavailable, SlurmRefused {
        FakeJob found = find(job);
        found.held = false;
        found.wait(now);
        schedule();
    }

    /** A waiting or running job ends, by whatever cause. */
    public synchronized void end(JobId job) throws SlurmUnavailable, SlurmRefused {
        FakeJob found = find(job);
        if (found.state != JobState.ENDED) {
            found.state = JobState.ENDED;
            found.ended = now;
            accounted.put(job, found.admin.orElse(""));
            schedule();
        }
    }

    public synchronized void requeue(JobId job) throws SlurmUnavailable, SlurmRefused {
        again(find(job));
    }

    /** As a user's or an administrator's update of a waiting job, after which it may not fit its ticket any more. */
    public synchronized void ask(JobId job, Demand demand) throws SlurmUnavailable, SlurmRefused {
        waiting(job).demand = demand;
    }

    /** The AdminComment of an ended job; empty if there is none. */
    public synchronized String accounted(JobId job) {
        return accounted.getOrDefault(job, "");
    }

    /** Whether it answers; jobs go on either way. */
    public synchronized void answer(boolean yes) {
        answers = yes;
    }

    public synchronized void advance(Duration by) {
        now = now.plus(by);
        jobs.removeIf(job -> job.state == JobState.ENDED && now.minus(job.ended).compareTo(KEPT) > 0);
        schedule();
    }

    private void add(FakeJob job, JobId id, long place) {
        job.id = id;
        job.place = place;
        job.wait(now);
        jobs.add(job);
    }

    private void again(FakeJob job) {
        job.state = JobState.PENDING;
        job.restarts++;
        job.nodes = List.of();
        job.begin = now.plus(REQUEUED_WAITS);
        job.wait(now);
    }

    private void change(FakeJob job, String features, int least, int most) {
        job.features = features;
        // Of a set's first component Slurm changes no number of nodes.
        if (!job.id.text().endsWith("+0")) {
            job.demand = FakeJob.withNodes(job.demand, least, most);
        }
        job.wait(now);
    }

    private void schedule() {
        for (FakeJob job : jobs) {
            if (job.state == JobState.PENDING) {
                job.wake(now, jobs);
            }
        }
        for (FakeJob job : jobs) {
            List<FakeJob> together = job.set == 0
                    ? List.of(job)
                    : jobs.stream().filter(each -> each.set == job.set).toList();
            if (together.stream().allMatch(this::canStart)) {
                together.forEach(each -> each.start(free(each)));
            }
        }
    }

    private boolean canStart(FakeJob job) {
        if (job.state != JobState.PENDING || job.priority == 0 || !job.isEligible()) {
            return false;
        }
        List<FakeNode> all = nodes.values().stream()
                .filter(node -> node.feature.equals(job.features))
                .toList();
        if (!all.isEmpty() && all.stream().noneMatch(node -> job.fits(node.cpus, node.memoryMib))) {
            job.priority = 0;
            job.reason = "BadConstraints";
            return false;
        }
        return free(job).size() >= job.demand.leastNodes() && job.isUnderThrottle(jobs);
    }

    private List<String> free(FakeJob job) {
        return nodes.values().stream()
                .filter(node -> node.feature.equals(job.features) && state(node) == Node.State.IDLE)
                .filter(node -> job.fits(node.cpus, node.memoryMib))
                .limit(job.demand.mostNodes())
                .map(node -> node.name)
                .toList();
    }

    private Node.State state(FakeNode node) {
        boolean busy = jobs.stream().anyMatch(job -> job.state == JobState.RUNNING && job.nodes.contains(node.name));
        if (busy) {
            return node.drained ? Node.State.LEAVING : Node.State.BUSY;
        }
        return node.drained || node.lost ? Node.State.OUT : Node.State.IDLE;
    }

    private FakeJob waiting(JobId job) throws SlurmUnavailable, SlurmRefused {
        FakeJob found = find(job);
        if (found.state != JobState.PENDING) {
            throw new SlurmRefused("job " + job + ": Job is no longer pending execution");
        }
        return found;
    }

    private FakeJob find(JobId job) throws SlurmUnavailable, SlurmRefused {
        requireAnswer();
        return jobs.stream()
                .filter(each -> each.id.equals(job))
                .findFirst()
                .orElseThrow(() -> new SlurmRefused("job " + job + ": Invalid job id specified"));
    }

    private void requireAnswer() throws SlurmUnavailable {
        if (!answers) {
            throw new SlurmUnavailable("Unable to contact slurm controller (connect failure)");
        }
    }
}
