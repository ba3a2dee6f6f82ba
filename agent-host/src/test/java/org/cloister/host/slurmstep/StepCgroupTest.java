package org.cloister.host.slurmstep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.cloister.host.domain.CpuSet;
import org.cloister.host.domain.HostNumaNode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The kernel's files as folders of ours, where what is written changes nothing; real ones are the lab's. */
class StepCgroupTest {
    private static final String STEP = "system.slice/slurmstepd.scope/job_12/step_0";
    private static final String USER = STEP + "/user";
    private static final String TASK = USER + "/task_0";

    @TempDir
    private Path folder;

    private JobNumbers numbers = sluid -> {
        throw new AssertionError(sluid);
    };

    @BeforeEach
    void lay() throws IOException {
        file("proc/7/cgroup", "0::/" + TASK + "\n");
        file("proc/self/mountinfo", "41 31 0:38 / " + folder + "/cgroup rw - cgroup2 cgroup2 rw\n");
        file("cgroup/" + TASK + "/cgroup.procs", "");
        // As Slurm 24.11 lays them: the step's own folder has the job's CPUs and no limit.
        file("cgroup/" + TASK + "/cpuset.cpus.effective", "2\n");
        file("cgroup/" + TASK + "/cpuset.mems.effective", "0\n");
        file("cgroup/" + TASK + "/memory.max", "max\n");
        file("cgroup/" + USER + "/memory.max", "1000\n");
        file("cgroup/" + STEP + "/cpuset.cpus.effective", "2-3\n");
        file("cgroup/" + STEP + "/cpuset.mems.effective", "0-1\n");
        file("cgroup/" + STEP + "/memory.max", "max\n");
        file("cgroup/system.slice/slurmstepd.scope/job_12/memory.max", "2000\n");
        file("cgroup/system.slice/slurmstepd.scope/memory.max", "3000\n");
    }

    private void file(String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private StepCgroup step() throws IOException {
        return StepCgroup.of(folder.resolve("proc"), 7, numbers);
    }

    @Test
    void what_was_allotted_is_what_applies_where_qemu_goes() throws IOException {
        StepAllocation allocation = step().allocation();
        assertThat(step().job()).isEqualTo(12);
        assertThat(allocation.cpus()).hasValue(new CpuSet(List.of(2)));
        assertThat(allocation.node()).hasValue(0);
        assertThat(allocation.memoryBytes()).hasValue(1000);
        file("cgroup/" + USER + "/memory.max", "2500\n");
        assertThat(step().allocation().memoryBytes()).as("the job's").hasValue(2000);
    }

    /** Slurm gives each step the memory of all nodes. */
    @Test
    void nodes_are_those_of_the_cpus_where_memory_may_come_from_several() throws IOException {
        file("cgroup/" + TASK + "/cpuset.cpus.effective", "2,5\n");
        file("cgroup/" + TASK + "/cpuset.mems.effective", "0-1\n");
        assertThat(step().allocation().nodes()).as("a kernel without NUMA").isEmpty();
        file("sys/devices/system/node/possible", "0-1\n");
        file("sys/devices/system/node/node0/cpulist", "0-3\n");
        file("sys/devices/system/node/node1/cpulist", "4-7\n");
        file("sys/devices/system/node/node2/cpulist", "\n");
        assertThat(step().allocation().node()).isEmpty();
        assertThat(step().allocation().nodes())
                .containsExactly(
                        new HostNumaNode(0, new CpuSet(List.of(2))), new HostNumaNode(1, new CpuSet(List.of(5))));
        file("sys/devices/system/node/node1/cpulist", "all\n");
        assertThatThrownBy(() -> step().allocation()).hasMessageContaining("node1: CPUs: want a list");
    }

    @Test
    void a_folder_without_a_controller_has_what_applies_above_it() throws IOException {
        Files.delete(folder.resolve("cgroup/" + TASK + "/cpuset.cpus.effective"));
        Files.delete(folder.resolve("cgroup/" + TASK + "/memory.max"));
        assertThat(step().allocation().cpus()).hasValue(new CpuSet(List.of(2, 3)));
        assertThat(step().allocation().node()).isEmpty();
        assertThat(step().allocation().memoryBytes()).hasValue(1000);
    }

    @Test
    void a_process_is_there_when_all_of_its_threads_are() throws IOException {
        file("proc/9/task/9/cgroup", "0::/" + TASK + "\n");
        file("proc/9/task/10/cgroup", "0::/" + TASK + "\n");
        step().attach(CgroupAttacher.DIRECT, "vm", 9);
        assertThat(folder.resolve("cgroup/" + TASK + "/cgroup.procs")).hasContent("9");
        file("proc/9/task/11/cgroup", "0::/\n");
        assertThat(step().contains(9)).isFalse();
        assertThatThrownBy(() -> step().attach(CgroupAttacher.DIRECT, "vm", 9))
                .hasMessageContaining("some threads are outside step 12.0");
    }

    @Test
    void a_process_that_one_hierarchy_of_the_step_has_not_is_not_everywhere() throws IOException {
        String mounts = "";
        String where = "";
        for (String each : List.of("memory", "freezer", "cpu")) {
            mounts += "41 31 0:38 / " + folder + "/" + each + " rw - cgroup cgroup rw," + each + "\n";
            where += "4:" + each + ":" + (each.equals("cpu") ? "/" : "/slurm_n/uid_0/job_12/step_0/task_0") + "\n";
        }
        file("proc/self/mountinfo", mounts);
        file("proc/7/cgroup", where);
        file("memory/slurm_n/uid_0/job_12/step_0/task_0/cgroup.procs", "");
        file("freezer/slurm_n/uid_0/job_12/step_0/task_0/cgroup.procs", "");
        assertThat(step().isInEveryHierarchy())
                .as("Slurm has no step in the third")
                .isTrue();
        file("proc/7/cgroup", where.replace("memory:/slurm_n/uid_0/job_12/step_0/task_0", "memory:/"));
        assertThat(step().isInEveryHierarchy()).isFalse();
    }

    @Test
    void an_ended_step_takes_nothing() throws IOException {
        StepCgroup step = step();
        for (String each :
                List.of("/cgroup.procs", "/cpuset.cpus.effective", "/cpuset.mems.effective", "/memory.max", "")) {
            Files.delete(folder.resolve("cgroup/" + TASK + each));
        }
        assertThat(step.exists()).isFalse();
        assertThatThrownBy(step::allocation).as("what is left is the job's").isInstanceOf(JobStepEnded.class);
        assertThatThrownBy(() -> step.attach(CgroupAttacher.DIRECT, "vm", 9))
                .isInstanceOf(JobStepEnded.class)
                .hasMessageContaining("step 12.0");
    }

    @Test
    void a_job_that_is_named_by_a_sluid_has_the_number_that_slurm_says() throws IOException {
        String task = "system.slice/slurmstepd.scope/sEKNKTV3WPV500/step_0/user/task_0";
        file("proc/7/cgroup", "0::/" + task + "\n");
        file("cgroup/" + task + "/cgroup.procs", "");
        List<String> requests = new ArrayList<>();
        numbers = new CachedTicketJobs(new TicketJobs() {
            @Override
            public boolean isTicketJob(long job, String ticket) {
                return false;
            }

            @Override
            public long numberOf(String sluid) {
                requests.add(sluid);
                return 4711;
            }
        });
        assertThat(step().job()).isEqualTo(4711);
        assertThat(step().step()).isEqualTo("4711.0");
        assertThat(requests).as("one request").containsExactly("sEKNKTV3WPV500");
    }

    /** Such as a service of the user's to which systemd delegates a cgroup. */
    @Test
    void a_step_below_a_folder_that_is_not_roots_is_none() throws IOException {
        for (String each : List.of("", "system.slice", "system.slice/slurmstepd.scope")) {
            Path above = folder.resolve("cgroup").resolve(each);
            Files.setAttribute(above, "unix:uid", 61234);
            assertThatThrownBy(this::step)
                    .isInstanceOf(NotInJobStep.class)
                    .hasMessageContaining("cgroup " + above + " belongs to user 61234");
            Files.setAttribute(above, "unix:uid", 0);
        }
        Files.setAttribute(folder.resolve("cgroup/" + STEP), "unix:uid", 61234);
        assertThat(step().job()).as("a step's own folder may be its user's").isEqualTo(12);
    }

    @Test
    void a_caller_that_has_ended_has_no_step() {
        assertThatThrownBy(() -> StepCgroup.of(folder.resolve("proc"), 8, numbers))
                .isInstanceOf(JobStepEnded.class)
                .hasMessageContaining("process 8");
    }

    @Test
    void a_path_that_leaves_the_hierarchy_is_refused() throws IOException {
        file("proc/7/cgroup", "0::/" + STEP + "/../../../../../../etc\n");
        assertThatThrownBy(this::step).isInstanceOf(IOException.class).hasMessageContaining("outside");
    }

    @Test
    void what_is_not_constrained_is_not_said() throws IOException {
        Files.delete(folder.resolve("cgroup/" + TASK + "/cpuset.cpus.effective"));
        Files.delete(folder.resolve("cgroup/" + STEP + "/cpuset.cpus.effective"));
        file("cgroup/cpuset.cpus.effective", "0-63\n");
        file("cgroup/" + USER + "/memory.max", "max\n");
        file("cgroup/system.slice/slurmstepd.scope/job_12/memory.max", "max\n");
        file("cgroup/system.slice/slurmstepd.scope/memory.max", "max\n");
        assertThat(step().allocation().cpus()).isEmpty();
        assertThat(step().allocation().memoryBytes()).isEmpty();
    }

    @Test
    void cpus_that_are_no_list_are_an_error() throws IOException {
        file("cgroup/" + TASK + "/cpuset.cpus.effective", "all\n");
        assertThatThrownBy(() -> step().allocation())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("have \"all\"");
    }

    @Test
    void a_limit_that_is_no_number_is_an_error() throws IOException {
        file("cgroup/" + USER + "/memory.max", "lots\n");
        assertThatThrownBy(() -> step().allocation()).hasMessageContaining("want bytes, have lots");
    }
}
