package org.cloister.vm.controller.slurm;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.cloister.slurm.SlurmRefusedException;
import org.cloister.slurm.SlurmUnavailableException;

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

    private final List<FakeLocalSlurmJob> jobs = new ArrayList<>();
    private final Map<String, FakeNode> nodes = new LinkedHashMap<>();
    private final Map<LocalSlurmJobId, String> accounted = new LinkedHashMap<>();
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
    public synchronized List<LocalSlurmJob> jobs() throws SlurmUnavailableException {
        requireAnswer();
        return jobs.stream()
                .sorted(Comparator.comparingLong((FakeLocalSlurmJob job) -> -job.priority)
                        .thenComparingLong(job -> job.place))
                .map(FakeLocalSlurmJob::shown)
                .toList();
    }

    @Override
    public synchronized List<LocalSlurmNode> nodes() throws SlurmUnavailableException {
        requireAnswer();
        return nodes.values().stream()
                .map(node -> new LocalSlurmNode(node.name, node.feature, state(node), node.cpus, node.memoryMib))
                .toList();
    }

    @Override
    public synchronized void placeJob(LocalSlurmJobId job, String ticket, int count)
            throws SlurmUnavailableException, SlurmRefusedException {
        change(waiting(job), LocalSlurm.feature(ticket), count, count);
        schedule();
    }

    @Override
    public synchronized void unplaceJob(LocalSlurmJobId job, JobRequirements requirements)
            throws SlurmUnavailableException, SlurmRefusedException {
        change(waiting(job), LocalSlurm.UNPLACED, requirements.minNodes(), requirements.maxNodes());
    }

    @Override
    public synchronized void holdJob(LocalSlurmJobId job) throws SlurmUnavailableException, SlurmRefusedException {
        // As Slurm does, of a job that runs too.
        FakeLocalSlurmJob found = find(job);
        found.held = true;
        if (found.state == LocalSlurmJobState.PENDING) {
            found.priority = 0;
            found.reason = "JobHeldUser";
        }
    }

    @Override
    public synchronized void setAdminComment(LocalSlurmJobId job, String text)
            throws SlurmUnavailableException, SlurmRefusedException {
        requireAnswer();
        Optional<FakeLocalSlurmJob> known = jobs.stream()
                .filter(each -> each.id.equals(job) && each.state != LocalSlurmJobState.ENDED)
                .findFirst();
        if (known.isPresent()) {
            known.get().admin = Optional.of(text);
        } else if (accounted.replace(job, text) == null) {
            throw new SlurmRefusedException("job " + job + ": not known to accounting");
        }
    }

    /** It has nothing but its memory. */
    @Override
    public synchronized void saveState(LocalSlurmJob job) throws SlurmUnavailableException {
        requireAnswer();
    }

    @Override
    public synchronized void drainNode(String node, String why)
            throws SlurmUnavailableException, SlurmRefusedException {
        requireAnswer();
        FakeNode found = nodes.get(node);
        if (found == null) {
            throw new SlurmRefusedException("node " + node + ": Invalid node name specified");
        }
        found.drained = true;
    }

    @Override
    public synchronized void markNodeDown(String node, String why)
            throws SlurmUnavailableException, SlurmRefusedException {
        drainNode(node, why);
        for (FakeLocalSlurmJob job : List.copyOf(jobs)) {
            if (job.state == LocalSlurmJobState.RUNNING && job.nodes.contains(node)) {
                again(job);
            }
        }
    }

    @Override
    public synchronized void deleteNode(String node) throws SlurmUnavailableException, SlurmRefusedException {
        requireAnswer();
        if (jobs.stream().anyMatch(job -> job.state == LocalSlurmJobState.RUNNING && job.nodes.contains(node))) {
            throw new SlurmRefusedException("scontrol delete nodename=" + node + ": Requested nodes are busy");
        }
        nodes.remove(node);
    }

    /** @param options of sbatch: hold, begin, dependency=afterok, nice; others say nothing here but array */
    public synchronized LocalSlurmJobId submit(JobRequirements requirements, String... options) {
        FakeLocalSlurmJob job = new FakeLocalSlurmJob(requirements, PRIORITY, UID);
        String array = "";
        for (String option : options) {
            String value = option.substring(option.indexOf('=') + 1);
            switch (option.split("=", 2)[0]) {
                case "--hold" -> job.held = true;
                case "--begin" -> job.begin = Duration.ofHours(1).plus(now);
                case "--dependency" -> job.after = Optional.of(new LocalSlurmJobId(value.split(":", 2)[1]));
                case "--nice" -> job.full = PRIORITY - Long.parseLong(value);
                case "--array" -> array = value;
                default -> {}
            }
        }
        last++;
        if (array.isEmpty()) {
            add(job, new LocalSlurmJobId(Long.toString(last)), last);
            return job.id;
        }
        String[] parts = array.split("[-%]", -1);
        for (int task = Integer.parseInt(parts[0]); task <= Integer.parseInt(parts[1]); task++) {
            FakeLocalSlurmJob each = new FakeLocalSlurmJob(requirements, PRIORITY, UID);
            each.array = last;
            each.throttle = parts.length > 2 ? Integer.parseInt(parts[2]) : 0;
            add(each, new LocalSlurmJobId(last + "_" + task), last);
        }
        return new LocalSlurmJobId(Long.toString(last));
    }

    public synchronized List<LocalSlurmJobId> submitSet(JobRequirements... requirementsOfSet) {
        long first = last + 1;
        List<LocalSlurmJobId> ids = new ArrayList<>();
        for (JobRequirements requirements : requirementsOfSet) {
            last++;
            FakeLocalSlurmJob job = new FakeLocalSlurmJob(requirements, PRIORITY, UID);
            job.set = first;
            add(job, new LocalSlurmJobId(first + "+" + ids.size()), last);
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
                .filter(job -> job.state == LocalSlurmJobState.RUNNING && job.nodes.contains(node))
                .toList()
                .forEach(this::again);
    }

    public synchronized void release(LocalSlurmJobId job) throws SlurmUnavailableException, SlurmRefusedException {
        FakeLocalSlurmJob found = find(job);
        found.held = false;
        found.wait(now);
        schedule();
    }

    /** A waiting or running job ends, by whatever cause. */
    public synchronized void endJob(LocalSlurmJobId job) throws SlurmUnavailableException, SlurmRefusedException {
        FakeLocalSlurmJob found = find(job);
        if (found.state != LocalSlurmJobState.ENDED) {
            found.state = LocalSlurmJobState.ENDED;
            found.ended = now;
            accounted.put(job, found.admin.orElse(""));
            schedule();
        }
    }

    public synchronized void requeue(LocalSlurmJobId job) throws SlurmUnavailableException, SlurmRefusedException {
        again(find(job));
    }

    /** As a user's or an administrator's update of a waiting job, after which it may not fit its ticket any more. */
    public synchronized void ask(LocalSlurmJobId job, JobRequirements requirements)
            throws SlurmUnavailableException, SlurmRefusedException {
        waiting(job).requirements = requirements;
    }

    /** The AdminComment of an ended job; empty if there is none. */
    public synchronized String accounted(LocalSlurmJobId job) {
        return accounted.getOrDefault(job, "");
    }

    /** Whether it answers; jobs go on either way. */
    public synchronized void answer(boolean yes) {
        answers = yes;
    }

    public synchronized void advance(Duration by) {
        now = now.plus(by);
        jobs.removeIf(job ->
                job.state == LocalSlurmJobState.ENDED && now.minus(job.ended).compareTo(KEPT) > 0);
        schedule();
    }

    private void add(FakeLocalSlurmJob job, LocalSlurmJobId id, long place) {
        job.id = id;
        job.place = place;
        job.wait(now);
        jobs.add(job);
    }

    private void again(FakeLocalSlurmJob job) {
        job.state = LocalSlurmJobState.PENDING;
        job.restarts++;
        job.nodes = List.of();
        job.begin = now.plus(REQUEUED_WAITS);
        job.wait(now);
    }

    private void change(FakeLocalSlurmJob job, String features, int least, int most) {
        job.features = features;
        // Of a set's first component Slurm changes no number of nodes.
        if (!job.id.text().endsWith("+0")) {
            job.requirements = FakeLocalSlurmJob.withNodes(job.requirements, least, most);
        }
        job.wait(now);
    }

    private void schedule() {
        for (FakeLocalSlurmJob job : jobs) {
            if (job.state == LocalSlurmJobState.PENDING) {
                job.wake(now, jobs);
            }
        }
        for (FakeLocalSlurmJob job : jobs) {
            List<FakeLocalSlurmJob> jobsOfSet = job.set == 0
                    ? List.of(job)
                    : jobs.stream().filter(each -> each.set == job.set).toList();
            if (jobsOfSet.stream().allMatch(this::canStart)) {
                jobsOfSet.forEach(each -> each.start(free(each)));
            }
        }
    }

    private boolean canStart(FakeLocalSlurmJob job) {
        if (job.state != LocalSlurmJobState.PENDING || job.priority == 0 || !job.isEligible()) {
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
        return free(job).size() >= job.requirements.minNodes() && job.isUnderThrottle(jobs);
    }

    private List<String> free(FakeLocalSlurmJob job) {
        return nodes.values().stream()
                .filter(node -> node.feature.equals(job.features) && state(node) == LocalSlurmNode.State.IDLE)
                .filter(node -> job.fits(node.cpus, node.memoryMib))
                .limit(job.requirements.maxNodes())
                .map(node -> node.name)
                .toList();
    }

    private LocalSlurmNode.State state(FakeNode node) {
        boolean busy =
                jobs.stream().anyMatch(job -> job.state == LocalSlurmJobState.RUNNING && job.nodes.contains(node.name));
        if (busy) {
            return node.drained ? LocalSlurmNode.State.DRAINING : LocalSlurmNode.State.BUSY;
        }
        return node.drained || node.lost ? LocalSlurmNode.State.UNAVAILABLE : LocalSlurmNode.State.IDLE;
    }

    private FakeLocalSlurmJob waiting(LocalSlurmJobId job) throws SlurmUnavailableException, SlurmRefusedException {
        FakeLocalSlurmJob found = find(job);
        if (found.state != LocalSlurmJobState.PENDING) {
            throw new SlurmRefusedException("job " + job + ": Job is no longer pending execution");
        }
        return found;
    }

    private FakeLocalSlurmJob find(LocalSlurmJobId job) throws SlurmUnavailableException, SlurmRefusedException {
        requireAnswer();
        return jobs.stream()
                .filter(each -> each.id.equals(job))
                .findFirst()
                .orElseThrow(() -> new SlurmRefusedException("job " + job + ": Invalid job id specified"));
    }

    private void requireAnswer() throws SlurmUnavailableException {
        if (!answers) {
            throw new SlurmUnavailableException("Unable to contact slurm controller (connect failure)");
        }
    }
}
