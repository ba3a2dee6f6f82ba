package org.cloister.host.slurmstep;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.cloister.host.domain.CpuSet;
import org.cloister.host.domain.HostNumaNode;
import org.cloister.slurm.LogText;

/**
 * Cgroups of a caller's step: reads its allocation, and moves QEMU into it. Every call reads the kernel's current
 * state.
 */
public final class StepCgroup {
    /** Maximum of attempts: threads may be created while their process is moved; each attempt finds fewer. */
    private static final int MAX_ATTEMPTS = 10;
    /** Value for no limit in version 1: the largest multiple of a page. */
    private static final long UNLIMITED = Long.MAX_VALUE / 4096 * 4096;

    /** Folder of the host's NUMA nodes, beside {@code /proc}. */
    private static final Path NODES = Path.of("sys", "devices", "system", "node");

    private static final Pattern BYTES = Pattern.compile("[0-9]{1,19}");

    private final Path proc;
    private final long caller;
    private final long job;
    private final JobStep step;
    private final List<Folders> all;
    private final List<Path> roots;

    /**
     * Folders in one hierarchy.
     *
     * @param membership of the step and the caller
     * @param step folder of the step
     * @param caller folder of the calling process: the same or below it
     */
    private record Folders(JobStep.CgroupPath membership, Path step, Path caller) {}

    private StepCgroup(Path proc, long caller, long job, JobStep step, List<Folders> all, List<Path> roots) {
        this.proc = proc;
        this.caller = caller;
        this.job = job;
        this.step = step;
        this.all = all;
        this.roots = roots;
    }

    /**
     * Finds the step of a process.
     *
     * @param pid of a process that a step of Slurm has started, as reported by the kernel (SO_PEERCRED)
     * @param numbers asked only if the job's cgroups are not named by its number
     * @throws NotInJobStep if it is in none
     * @throws JobStepEnded if the process has ended
     */
    public static StepCgroup of(long pid, JobNumbers numbers) throws IOException {
        return of(Path.of("/proc"), pid, numbers);
    }

    static StepCgroup of(Path proc, long pid, JobNumbers numbers) throws IOException {
        JobStep step = JobStep.parse(read(proc.resolve(Long.toString(pid)).resolve("cgroup"), "process " + pid));
        CgroupMounts mounts = CgroupMounts.parse(read(proc.resolve("self/mountinfo"), "agent-host"));
        List<Folders> all = new ArrayList<>();
        for (JobStep.CgroupPath membership : step.cgroups()) {
            Path root = mounts.root(membership.controllers());
            requireOfRoot(root, below(root, membership.above()));
            all.add(new Folders(membership, below(root, membership.step()), below(root, membership.path())));
        }
        long job = step.number().isPresent() ? step.number().getAsLong() : numbers.numberOf(step.job());
        return new StepCgroup(proc, pid, job, step, List.copyOf(all), mounts.roots());
    }

    /** Throws unless root alone can have created a cgroup in which Slurm has its jobs. */
    private static void requireOfRoot(Path root, Path jobs) throws IOException {
        for (Path each = jobs; each.startsWith(root); each = each.resolve("..").normalize()) {
            Object owner;
            try {
                owner = Files.getAttribute(each, "unix:uid");
            } catch (NoSuchFileException e) {
                throw new JobStepEnded("cgroup " + each + " is gone: its step has ended");
            }
            if (!owner.equals(0)) {
                throw new NotInJobStep(
                        "cgroup " + each + " belongs to user " + owner,
                        "let only slurmd, which runs as root, create the cgroups of job steps");
            }
        }
    }

    /** Returns the number of the global job. */
    public long job() {
        return job;
    }

    /** Returns the step in Slurm's notation, such as {@code 12.0}. */
    public String step() {
        return job + "." + step.step();
    }

    /**
     * Returns what applies to a process in the caller's cgroups, where QEMU goes. In version 2 Slurm sets a step's
     * limits below the step's own folder, which has the job's.
     */
    public StepAllocation allocation() throws IOException {
        Optional<CpuSet> cpus = Optional.empty();
        OptionalInt node = OptionalInt.empty();
        List<HostNumaNode> nodes = List.of();
        OptionalLong memory = OptionalLong.empty();
        for (Folders each : all) {
            boolean second = each.membership.controllers().isEmpty();
            List<Path> sets = upwards(each.caller, second ? "cpuset.cpus.effective" : "cpuset.cpus");
            if (!sets.isEmpty() && sets.get(0).startsWith(each.step)) {
                CpuSet own = numbers(sets.get(0));
                cpus = Optional.of(own);
                // The kernel writes NUMA nodes in the notation of CPUs.
                List<Integer> mems = numbers(
                                sets.get(0).resolveSibling(second ? "cpuset.mems.effective" : "cpuset.mems"))
                        .numbers();
                if (mems.size() == 1) {
                    node = OptionalInt.of(mems.get(0));
                } else {
                    nodes = HostNumaNode.of(own, HostNumaNodes.read(proc.resolveSibling(NODES)), mems);
                }
            }
            memory = smaller(memory, limit(each.caller, second ? "memory.max" : "memory.limit_in_bytes"));
        }
        if (!exists()) {
            // What was read then is the job's.
            throw stepEnded();
        }
        return new StepAllocation(cpus, node, nodes, memory);
    }

    /**
     * Moves a process and all of its threads to the caller's cgroups, so that the step's limits, accounting and end
     * apply to it.
     *
     * @param attacher moves the process
     * @param domain name of its VM in libvirt
     * @param pid of QEMU, which is paused
     * @throws JobStepEnded if the step has ended; the process may then be in some of its cgroups, and must be killed
     * @throws IOException if it is not completely there afterwards
     */
    public void attach(CgroupAttacher attacher, String domain, long pid) throws IOException {
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            moveOnce(attacher, domain, pid);
            if (isCompletelyInStep(pid)) {
                return;
            }
        }
        throw new IOException("process " + pid + ": some threads are outside step " + step() + " after " + MAX_ATTEMPTS
                + " attempts; find the program that moves them back");
    }

    /** Returns whether every thread of a process is in the caller's cgroups, even if the caller has ended. */
    public boolean contains(long pid) throws IOException {
        return isCompletelyInStep(pid);
    }

    /**
     * Returns whether the calling process is in the step in every hierarchy in which Slurm has the step. The limits of
     * a hierarchy that it was removed from do not apply to it.
     */
    public boolean isInEveryHierarchy() {
        long hierarchies = roots.stream()
                .filter(root -> step.cgroups().stream()
                        .anyMatch(membership ->
                                Files.isDirectory(root.resolve(membership.step().substring(1)))))
                .count();
        return hierarchies == all.size();
    }

    /** Returns whether Slurm still has the step: slurmstepd removes its folders after its last process. */
    public boolean exists() {
        return all.stream().allMatch(each -> Files.isDirectory(each.caller));
    }

    private void moveOnce(CgroupAttacher attacher, String domain, long pid) throws IOException {
        try {
            attacher.attach(
                    domain, pid, caller, all.stream().map(Folders::caller).toList());
        } catch (JobStepEnded e) {
            throw e;
        } catch (IOException e) {
            if (!exists()) {
                throw stepEnded();
            }
            throw new IOException("process " + pid + ": not moved into step " + step() + ": " + e.getMessage(), e);
        }
    }

    private boolean isCompletelyInStep(long pid) throws IOException {
        Path tasks = proc.resolve(Long.toString(pid)).resolve("task");
        List<Path> threads = new ArrayList<>();
        try (DirectoryStream<Path> each = Files.newDirectoryStream(tasks)) {
            each.forEach(threads::add);
        } catch (NoSuchFileException e) {
            throw new IOException("process " + pid + " of step " + step() + " has ended", e);
        }
        for (Path thread : threads) {
            if (!isInStep(thread)) {
                return false;
            }
        }
        return !threads.isEmpty();
    }

    private boolean isInStep(Path thread) throws IOException {
        ProcessCgroups list;
        try {
            list = ProcessCgroups.parse(Files.readString(thread.resolve("cgroup"), StandardCharsets.ISO_8859_1));
        } catch (NoSuchFileException e) {
            // A thread that has ended is in no other cgroup.
            return true;
        }
        return step.cgroups().stream()
                .allMatch(membership -> list.memberships()
                        .contains(new ProcessCgroups.Membership(membership.controllers(), membership.path())));
    }

    private JobStepEnded stepEnded() {
        return new JobStepEnded("step " + step() + " has ended: its cgroups are gone");
    }

    private static CpuSet numbers(Path file) throws IOException {
        try {
            return CpuSet.parse(read(file, "step").strip());
        } catch (IllegalArgumentException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }

    /** Returns the files of a name in a folder and those above it: not each has every controller. */
    private static List<Path> upwards(Path folder, String file) {
        List<Path> found = new ArrayList<>();
        for (Path each = folder; each != null; each = each.getParent()) {
            Path candidate = each.resolve(file);
            if (Files.exists(candidate)) {
                found.add(candidate);
            }
        }
        return found;
    }

    /** Returns the smallest limit of a folder and those above it. */
    private static OptionalLong limit(Path folder, String file) throws IOException {
        OptionalLong smaller = OptionalLong.empty();
        for (Path each : upwards(folder, file)) {
            String text = read(each, "step").strip();
            if (text.equals("max")) {
                continue;
            }
            if (!BYTES.matcher(text).matches()) {
                throw new IOException(each + ": want bytes, have " + LogText.printable(text));
            }
            long bytes = Long.parseLong(text);
            if (bytes < UNLIMITED) {
                smaller = smaller(smaller, OptionalLong.of(bytes));
            }
        }
        return smaller;
    }

    private static OptionalLong smaller(OptionalLong one, OptionalLong other) {
        if (one.isEmpty() || other.isEmpty()) {
            return one.isEmpty() ? other : one;
        }
        return OptionalLong.of(Math.min(one.getAsLong(), other.getAsLong()));
    }

    private static Path below(Path root, String path) throws IOException {
        Path below = root.resolve(path.substring(1)).normalize();
        if (!below.startsWith(root)) {
            throw new IOException(
                    "cgroup " + LogText.printable(path) + ": want one below " + root + ", have one outside");
        }
        return below;
    }

    private static String read(Path file, String subject) throws IOException {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (NoSuchFileException e) {
            throw new JobStepEnded(subject + " has ended: " + file + " is gone");
        }
    }
}
