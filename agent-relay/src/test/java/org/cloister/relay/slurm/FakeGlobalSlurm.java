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
import org.cloister.slurm.SlurmRefusedException;
import org.cloister.slurm.SlurmUnavailableException;

/**
 * A Slurm in memory: jobs wait for whole nodes in the order of their numbers, run until told to end or until their time is
 * up, are forgotten some minutes after their end and stay in accounting. It can be down, and answer late. For several
 * threads; its clock is moved by {@link #advance}.
 */
public final class FakeGlobalSlurm implements GlobalSlurm {
    private static final Duration KEPT = Duration.ofMinutes(5);
    private static final int NODE_CPUS = 2;
    private static final int NODE_MEMORY_MIB = 8000;

    private final Set<String> nodes;
    private final Set<String> down = new HashSet<>();
    private final Set<String> features;
    private final boolean accounting;
    private final Map<Long, Entry> jobs = new TreeMap<>();
    private final List<GlobalJob> accounted = new ArrayList<>();
    private Duration now = Duration.ZERO;
    private long last;
    private boolean answers = true;
    private int late;
    private int submissions;
    private GlobalPartitions partitions = new GlobalPartitions("secure", Optional.of("controllers"));

    private static final class Entry {
        final JobSubmission what;
        GlobalJob job;
        Duration since = Duration.ZERO;

        Entry(long id, JobSubmission what) {
            this.what = what;
            this.job = new GlobalJob(id, what.ticket(), GlobalJobState.PENDING, "Priority", List.of());
        }
    }

    /** @param features that each node has */
    public FakeGlobalSlurm(List<String> nodes, Set<String> features, boolean accounting) {
        this.nodes = Set.copyOf(nodes);
        this.features = Set.copyOf(features);
        this.accounting = accounting;
    }

    @Override
    public String user() {
        return "relay";
    }

    @Override
    public synchronized GlobalPartitions partitions() {
        return partitions;
    }

    /** The relay's configuration says other ones from now on. */
    public synchronized void partitions(GlobalPartitions other) {
        partitions = other;
    }

    /** Where a job was sent to. */
    public synchronized String partition(long job) {
        return Objects.requireNonNull(jobs.get(job)).what.partition();
    }

    /** Its options are known: it has no program that reads them. */
    @Override
    public void requireOptions() {}

    @Override
    public synchronized List<GlobalJob> jobs() throws SlurmUnavailableException {
        requireAnswer();
        return jobs.values().stream().map(entry -> entry.job).toList();
    }

    @Override
    public synchronized List<GlobalJob> accounted(Collection<String> tickets) throws SlurmUnavailableException {
        requireAnswer();
        return accounted.stream().filter(job -> tickets.contains(job.ticket())).toList();
    }

    @Override
    public synchronized long submit(JobSubmission what) throws SlurmUnavailableException, SlurmRefusedException {
        requireAnswer();
        if (!features.containsAll(what.features())) {
            throw new SlurmRefusedException("Invalid feature specification");
        }
        if (what.memoryMib() > NODE_MEMORY_MIB || what.cpusPerTask() > NODE_CPUS) {
            throw new SlurmRefusedException("Requested node configuration is not available");
        }
        submissions++;
        last++;
        jobs.put(last, new Entry(last, what));
        schedule();
        if (late > 0) {
            late--;
            throw new SlurmUnavailableException("sbatch: no answer within 15 s");
        }
        return last;
    }

    @Override
    public synchronized void cancel(long job) throws SlurmUnavailableException {
        requireAnswer();
        endJob(job, GlobalJobState.CANCELLED);
    }

    @Override
    public synchronized List<NodeAllocation> shares(long job) throws SlurmUnavailableException {
        requireAnswer();
        Entry entry = jobs.get(job);
        if (entry == null) {
            return List.of();
        }
        JobSubmission what = entry.what;
        int tasks = what.tasksPerNode().orElse((what.tasks().orElse(what.nodes()) + what.nodes() - 1) / what.nodes());
        int cpus = what.exclusive() ? NODE_CPUS : Math.min(NODE_CPUS, tasks * what.cpusPerTask());
        int memory = what.memoryMib() == 0 ? NODE_MEMORY_MIB : what.memoryMib();
        return entry.job.nodes().stream()
                .map(node -> new NodeAllocation(node, cpus, memory))
                .toList();
    }

    /** Moves the clock: jobs' limits pass, ended jobs are forgotten. */
    public synchronized void advance(Duration by) {
        now = now.plus(by);
        for (Entry entry : List.copyOf(jobs.values())) {
            Duration in = now.minus(entry.since);
            if (entry.job.state() == GlobalJobState.RUNNING && in.compareTo(entry.what.limit()) > 0) {
                endJob(entry.job.id(), GlobalJobState.TIMEOUT);
            } else if (entry.job.state().hasEnded() && in.compareTo(KEPT) > 0) {
                jobs.remove(entry.job.id());
            }
        }
    }

    /** Ends a job as its steps or the site would. */
    public synchronized void endJob(long job, GlobalJobState how) {
        Entry entry = jobs.get(job);
        if (entry == null || entry.job.state().hasEnded()) {
            return;
        }
        GlobalJob old = entry.job;
        entry.job = new GlobalJob(old.id(), old.ticket(), how, "", old.nodes());
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
                endJob(entry.job.id(), GlobalJobState.NODE_FAILED);
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
            if (entry.job.state() == GlobalJobState.PENDING && !runsAlready(entry.job.ticket())) {
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
        GlobalJob old = entry.job;
        if (free.size() >= entry.what.nodes()) {
            List<String> nodes = free.subList(0, entry.what.nodes());
            entry.job = new GlobalJob(old.id(), old.ticket(), GlobalJobState.RUNNING, "", nodes);
            entry.since = now;
        }
    }

    private Stream<GlobalJob> running() {
        return jobs.values().stream().map(entry -> entry.job).filter(job -> job.state() == GlobalJobState.RUNNING);
    }

    /** The singleton dependency. */
    private boolean runsAlready(String ticket) {
        return running().anyMatch(job -> job.ticket().equals(ticket));
    }

    private void requireAnswer() throws SlurmUnavailableException {
        if (!answers) {
            throw new SlurmUnavailableException("Unable to contact slurm controller (connect failure)");
        }
    }
}
