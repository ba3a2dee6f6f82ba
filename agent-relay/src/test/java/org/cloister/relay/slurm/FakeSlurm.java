package org.cloister.relay.slurm;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.cloister.slurm.SlurmRefused;
import org.cloister.slurm.SlurmUnavailable;

/**
 * A Slurm in memory: jobs wait for whole nodes in the order of their numbers, run until told to end or until their time is
 * up, are forgotten some minutes after their end and stay in accounting. It can be down, and answer late. For several
 * threads; its clock is moved by {@link #advance}.
 */
public final class FakeSlurm implements GlobalSlurm {
    private static final Duration KEPT = Duration.ofMinutes(5);
    private static final int NODE_CPUS = 2;
    private static final int NODE_MEMORY_MIB = 8000;

    private final Set<String> nodes;
    private final Set<String> down = new HashSet<>();
    private final Set<String> features;
    private final boolean accounting;
    private final Map<Long, Entry> jobs = new TreeMap<>();
    private final List<Job> accounted = new ArrayList<>();
    private Duration now = Duration.ZERO;
    private long last;
    private boolean answers = true;
    private int late;
    private int submissions;
    private Partitions partitions = new Partitions("secure", Optional.of("controllers"));

    private static final class Entry {
        final Submission what;
        Job job;
        Duration since = Duration.ZERO;

        Entry(long id, Submission what) {
            this.what = what;
            this.job = new Job(id, what.ticket(), JobState.PENDING, "Priority", List.of());
        }
    }

    /** @param features that each node has */
    public FakeSlurm(List<String> nodes, Set<String> features, boolean accounting) {
        this.nodes = Set.copyOf(nodes);
        this.features = Set.copyOf(features);
        this.accounting = accounting;
    }

    @Override
    public synchronized Partitions partitions() {
        return partitions;
    }

    /** The relay's configuration says other ones from now on. */
    public synchronized void partitions(Partitions other) {
        partitions = other;
    }

    /** Where a job was sent to. */
    public synchronized String partition(long job) {
        return Objects.requireNonNull(jobs.get(job)).what.partition();
    }

    @Override
    public synchronized List<Job> jobs() throws SlurmUnavailable {
        requireAnswer();
        return jobs.values().stream().map(entry -> entry.job).toList();
    }

    @Override
    public synchronized List<Job> accounted(Collection<String> tickets) throws SlurmUnavailable {
        requireAnswer();
        return accounted.stream().filter(job -> tickets.contains(job.ticket())).toList();
    }

    @Override
    public synchronized long submit(Submission what) throws SlurmUnavailable, SlurmRefused {
        requireAnswer();
        if (!features.containsAll(what.features())) {
            throw new SlurmRefused("Invalid feature specification");
        }
        if (what.memoryMib() > NODE_MEMORY_MIB || what.cpusPerTask() > NODE_CPUS) {
            throw new SlurmRefused("Requested node configuration is not available");
        }
        submissions++;
        last++;
        jobs.put(last, new Entry(last, what));
        schedule();
        if (late > 0) {
            late--;
            throw new SlurmUnavailable("sbatch: no answer within 15 s");
        }
        return last;
    }

    @Override
    public synchronized void cancel(long job) throws SlurmUnavailable {
        requireAnswer();
        end(job, JobState.CANCELLED);
    }

    @Override
    public synchronized List<NodeShare> shares(long job) throws SlurmUnavailable {
        requireAnswer();
        Entry entry = jobs.get(job);
        if (entry == null) {
            return List.of();
        }
        Submission what = entry.what;
        int tasks = what.tasksPerNode().orElse((what.tasks().orElse(what.nodes()) + what.nodes() - 1) / what.nodes());
        int cpus = what.exclusive() ? NODE_CPUS : Math.min(NODE_CPUS, tasks * what.cpusPerTask());
        int memory = what.memoryMib() == 0 ? NODE_MEMORY_MIB : what.memoryMib();
        return entry.job.nodes().stream()
                .map(node -> new NodeShare(node, cpus, memory))
                .toList();
    }

    /** Moves the clock: jobs' limits pass, ended jobs are forgotten. */
    public synchronized void advance(Duration by) {
        now = now.plus(by);
        for (Entry entry : List.copyOf(jobs.values())) {
            Duration in = now.minus(entry.since);
            if (entry.job.state() == JobState.RUNNING && in.compareTo(entry.what.limit()) > 0) {
                end(entry.job.id(), JobState.TIMEOUT);
            } else if (entry.job.state().hasEnded() && in.compareTo(KEPT) > 0) {
                jobs.remove(entry.job.id());
            }
        }
    }

    /** Ends a job as its steps or the site would. */
    public synchronized void end(long job, JobState how) {
        Entry entry = jobs.get(job);
        if (entry == null || entry.job.state().hasEnded()) {
            return;
        }
        Job old = entry.job;
        entry.job = new Job(old.id(), old.ticket(), how, "", old.nodes());
        entry.since = now;
        if (accounting) {
            accounted.add(entry.job);
        }
        schedule();
    }

    /** A node breaks down with what runs on it. */
    public synchronized void fail(String node) {
        down.add(node);
        for (Entry entry : List.copyOf(jobs.values())) {
            if (entry.job.nodes().contains(node)) {
                end(entry.job.id(), JobState.NODE_FAILED);
            }
        }
    }

    /** The site repairs a node. */
    public synchronized void repair(String node) {
        down.remove(node);
        schedule();
    }

    /** Whether it answers; jobs go on either way. */
    public synchronized void answer(boolean yes) {
        answers = yes;
    }

    /** So many of the next submissions are enqueued and not answered. */
    public synchronized void answerLate(int count) {
        late = count;
    }

    /** slurmctld's state is lost, with what waited and ran. */
    public synchronized void forgetAll() {
        jobs.clear();
    }

    public synchronized int submissions() {
        return submissions;
    }

    private void schedule() {
        for (Entry entry : jobs.values()) {
            if (entry.job.state() == JobState.PENDING && !runsAlready(entry.job.ticket())) {
                start(entry);
            }
        }
    }

    private void start(Entry entry) {
        List<String> free = nodes.stream()
                .filter(node -> !down.contains(node))
                .filter(node -> running().noneMatch(job -> job.nodes().contains(node)))
                .sorted()
                .toList();
        Job old = entry.job;
        if (free.size() >= entry.what.nodes()) {
            List<String> given = free.subList(0, entry.what.nodes());
            entry.job = new Job(old.id(), old.ticket(), JobState.RUNNING, "", given);
            entry.since = now;
        }
    }

    private Stream<Job> running() {
        return jobs.values().stream().map(entry -> entry.job).filter(job -> job.state() == JobState.RUNNING);
    }

    /** The singleton dependency. */
    private boolean runsAlready(String ticket) {
        return running().anyMatch(job -> job.ticket().equals(ticket));
    }

    private void requireAnswer() throws SlurmUnavailable {
        if (!answers) {
            throw new SlurmUnavailable("Unable to contact slurm controller (connect failure)");
        }
    }
}
