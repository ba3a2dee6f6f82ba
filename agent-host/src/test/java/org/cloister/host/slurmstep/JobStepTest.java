package org.cloister.host.slurmstep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JobStepTest {
    /** Of a task of a step, on Debian 12 with cgroup/v1 and a slurmd that was started with -N h1. */
    private static final String V1 = """
            9:name=systemd:/
            8:pids:/
            7:blkio:/
            6:freezer:/slurm_h1/uid_0/job_12/step_0
            5:devices:/
            4:memory:/slurm_h1/uid_0/job_12/step_0/task_0
            3:cpuset:/slurm_h1/uid_0/job_12/step_0
            2:cpuacct:/slurm_h1/uid_0/job_12/step_0/task_0
            1:cpu:/
            0::/
            """;

    @Test
    void the_step_is_the_one_that_slurms_cgroups_name_and_others_are_left_alone() throws IOException {
        JobStep step = JobStep.parse(V1);
        assertThat(step).hasToString("12.0");
        assertThat(step.cgroups())
                .extracting(JobStep.CgroupPath::controllers)
                .containsExactly("freezer", "memory", "cpuset", "cpuacct");
        assertThat(step.cgroups().get(1))
                .isEqualTo(new JobStep.CgroupPath(
                        "memory",
                        "/slurm_h1/uid_0",
                        "/slurm_h1/uid_0/job_12/step_0",
                        "/slurm_h1/uid_0/job_12/step_0/task_0"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0::/system.slice/slurmstepd.scope/job_12/step_0/user/task_0\n",
                "0::/system.slice/h1_slurmstepd.scope/job_12/step_0/user/task_0\n",
                "0::/hpc.slice/hpc-jobs.slice/slurmstepd.scope/job_12/step_0/user/task_0\n",
                "4:memory:/slurm/uid_0/job_12/step_0/task_0\n"
            })
    void both_versions_of_cgroups_are_known_with_and_without_the_nodes_name(String text) throws IOException {
        assertThat(JobStep.parse(text)).hasToString("12.0");
        assertThat(JobStep.parse(text).number()).hasValue(12);
    }

    /** As Slurm 26.05 names it. */
    @Test
    void a_job_may_have_a_sluid_in_place_of_its_number() throws IOException {
        JobStep step = JobStep.parse("0::/system.slice/slurmstepd.scope/sEKNKTV3WPV500/step_0/user/task_0\n");
        assertThat(step).hasToString("sEKNKTV3WPV500.0");
        assertThat(step.number()).isEmpty();
        assertThat(step.cgroups().get(0).above()).isEqualTo("/system.slice/slurmstepd.scope");
    }

    /** What a user makes lies below its own step. */
    @Test
    void a_name_deeper_down_is_no_step() throws IOException {
        assertThat(JobStep.parse("4:memory:/slurm/uid_0/job_12/step_batch/task_0/slurm/uid_0/job_99/step_0\n"))
                .hasToString("12.batch");
        assertThat(JobStep.parse("0::/system.slice/slurmstepd.scope/job_12/step_extern/user/job_99/step_0\n"))
                .hasToString("12.extern");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "0::/\n",
                "0::/user.slice/user-1000.slice/user@1000.service/x.slice/slurmstepd.scope/job_12/step_0\n",
                "0::/slurmstepd.scope/job_12/step_0\n",
                "0::/system.slice/slurmstepd.scope/job_sEKNKTV3WPV500/step_0\n",
                "0::/system.slice/slurmstepd.scope/12/step_0\n",
                "0::/system.slice/slurmstepd.scope/sEKNKTV3WPV50/step_0\n",
                "0::/system.slice/x/slurmstepd.scope/job_12/step_0\n",
                "0::/system.slice/slurmstepd.scope/system\n",
                "4:memory:/home/slurm/uid_0/job_12/step_0\n",
                "4:memory:/slurm/uid_0/job_012/step_0\n",
                "4:memory:/slurm/uid_0/job_12/step_0x\n",
                "4:memory:/slurm/uid_0/job_12\n",
                // Each version's form counts in its own hierarchies alone.
                "0::/slurm/uid_0/job_12/step_0\n",
                "4:memory:/system.slice/slurmstepd.scope/job_12/step_0/user/task_0\n"
            })
    void what_is_in_no_step_is_refused(String text) {
        assertThatThrownBy(() -> JobStep.parse(text))
                .isInstanceOf(NotInJobStep.class)
                .hasMessageContaining("ProctrackType=proctrack/cgroup");
    }

    @Test
    void hierarchies_that_disagree_are_refused() {
        assertThatThrownBy(() -> JobStep.parse(
                        "6:freezer:/slurm/uid_0/job_12/step_0\n4:memory:/slurm/uid_0/job_13/step_0/task_0\n"))
                .isInstanceOf(NotInJobStep.class)
                .hasMessageContaining("two steps, 12.0 and 13.0");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "memory:/slurm/uid_0/job_12/step_0\n",
                "4:memory:slurm/uid_0/job_12/step_0\n",
                "4:memory:/a\n5:memory:/slurm/uid_0/job_12/step_0\n",
                "4:mem ory:/slurm/uid_0/job_12/step_0\n",
            })
    void text_of_another_form_is_an_error_and_no_step(String text) {
        assertThatThrownBy(() -> JobStep.parse(text))
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(NotInJobStep.class);
        assertThatThrownBy(() -> JobStep.parse("4:memory:/" + "x".repeat(70_000)))
                .hasMessageContaining("at most");
    }
}
