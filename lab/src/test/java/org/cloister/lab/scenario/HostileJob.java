package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.lab.project.MemberDevice;
import org.cloister.lab.project.ProjectFixture;

/** A member's script that tries what it may not, in a worker, and then the same beside the project's queue. */
record HostileJob(ProjectFixture project, ProjectFixture.OpenedVm opened, String id) {
    private static final Path SCRIPT = Path.of("src/test/resources/jobs/hostile.sh");
    private static final int SCRATCH_MIB = 40;

    static HostileJob submit(ProjectFixture project, ProjectFixture.OpenedVm opened) throws IOException {
        project.member.put(SCRIPT);
        return new HostileJob(
                project, opened, project.member.submit("--tmp=" + SCRATCH_MIB + " --output=hostile.txt hostile.sh"));
    }

    /** When it is over. */
    void assertRefused() throws IOException {
        MemberDevice member = project.member;
        member.awaitEnd(id);
        String output = member.runSsh("cat hostile.txt");
        System.out.println(output);
        assertThat(output)
                .contains("hostile: done", "fill /scratch: refused", "insmod ", "daemons' folders: refused")
                .doesNotContain("NOT REFUSED");
        // Beside the daemons themselves, in the controlling VM.
        assertThat(member.ssh("cd /project/cloister && ls agent slurm mariadb nfs")
                        .run()
                        .err()
                        .lines()
                        .filter(line -> line.startsWith("ls: ")))
                .hasSize(4)
                .allMatch(line -> line.endsWith("Permission denied"));
        // A shell in the controlling VM is beside the project's queue and storage.
        String there = member.ssh("bash hostile.sh fork memory kill").run().out();
        System.out.println(there);
        assertThat(there)
                .contains("memory: refused", "hostile: done")
                .containsPattern("fork: (refused after|the kernel ended it)")
                .doesNotContain("NOT REFUSED");
        assertThat(member.runSsh("ulimit -u")).isEqualTo("2048\n");
        assertAFullDriveStopsNoJob();
        assertThat(member.runSsh("sbatch --wait --output=after.txt --wrap='echo after'; cat after.txt"))
                .endsWith("after\n");
        assertThat(project.readConsole(opened)).doesNotContain("Main process exited");
    }

    /** What root and the database have for themselves is enough to take a job, run it and write down its end. */
    private void assertAFullDriveStopsNoJob() throws IOException {
        MemberDevice member = project.member;
        assertThat(member.ssh("dd if=/dev/zero of=fill bs=1M").run().err()).contains("No space left on device");
        String job = member.submit("--output=/dev/null --wrap=true");
        member.awaitEnd(job);
        assertThat(member.state(job)).isEqualTo("COMPLETED|0:0");
        member.runSsh("rm fill");
    }
}
