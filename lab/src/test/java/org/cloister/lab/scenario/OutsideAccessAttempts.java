package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.lab.project.ProjectFixture;

/** Attempts against a project's jobs, storage and daemons, from places that must not reach them. */
record OutsideAccessAttempts(ProjectFixture project) {
    /**
     * From a step of bob's job, by srun as on a login node: slurmctld and storage answer, and the node of another's job does not;
     * what is the other's on the storage that both have stays closed.
     */
    void assertNothingOfAnothers(String other, String job) throws IOException {
        String address = project.member.address(other);
        List<String> ends =
                List.of("main:6817", "main:2049", "main:6819", "main:22", address + ":6818", address + ":22");
        String home = project.member.runSsh("pwd").strip();
        String step = "srun --overlap --jobid=" + job + " bash -c '{ bash reach.sh " + String.join(" ", ends) + "; ls "
                + home + "; cat " + home + "/out.txt; stat -c %U " + home + "; } 2>&1'";
        assertThat(project.bob.runSsh(step).lines())
                .containsExactly(
                        "main:6817: reached",
                        "main:2049: reached",
                        "main:6819: not reached",
                        "main:22: not reached",
                        address + ":6818: not reached",
                        address + ":22: not reached",
                        "ls: cannot open directory '" + home + "': Permission denied",
                        "cat: " + home + "/out.txt: Permission denied",
                        ProjectFixture.LOGIN);
    }

    /** Slurm knows the CPUs, their places and the memory that the VM of a job has. */
    void assertItsNodeIsTheVm(String job) throws IOException {
        String vm = project.member.runSsh("srun --overlap --jobid=" + job + " bash -c '"
                + "count() { lscpu -p=$1 | grep -v \"^#\" | sort -u | wc -l; }; echo CPUTot=$(getconf _NPROCESSORS_ONLN)"
                + " Sockets=$(count SOCKET) RealMemory=$(($(getconf _PHYS_PAGES) * $(getconf PAGESIZE) >> 20))'");
        assertThat(project.member.runSsh("scontrol show node -o " + project.member.node(job)))
                .contains(vm.strip().split(" "));
    }

    /** It may mount all that is exported to its worker, and is the job's user there. */
    void assertNoMoreOfTheStorage(ResourceOwner worker) throws IOException {
        project.site().guests().writeConsole(worker, "storage");
        ControllerInspection inspection = ControllerInspection.await(project, worker, "over");
        assertThat(inspection.at("ls /run/all")).contains("cloister", "home", "receipts");
        List<String> folders = Stream.of("agent", "mariadb", "nfs", "slurm")
                .map(folder -> "/run/all/cloister/" + folder)
                .toList();
        assertThat(inspection.at("ls " + String.join(" ", folders)))
                .containsExactlyElementsOf(folders.stream()
                        .map(folder -> "ls: cannot open directory '" + folder + "': Permission denied")
                        .toList());
        assertThat(inspection.at("touch /run/all/file /run/all/receipts/file /run/all/exports/file"))
                .hasSize(3)
                .allMatch(line -> line.endsWith("Permission denied"));
        assertThat(inspection.at("umount /run/all")).containsExactly("over");
    }

    /** slurmctld, storage, slurmdbd, a worker's slurmd; and at the relay the channel. This project itself reaches them. */
    void assertNothingFrom(ProjectFixture other, String job) throws Exception {
        String main = project.member
                .runSsh("ip -o -4 address show scope global")
                .replaceFirst("(?s).* inet ([0-9.]+)/.*", "$1");
        List<String> ends =
                List.of(main + ":6817", main + ":2049", main + ":6819", project.member.address(job) + ":6818");
        String line = "bash reach.sh " + String.join(" ", ends);
        project.member.put(ProjectJobTest.DEMO.resolve("reach.sh"));
        // A login reaches no storage, a worker does.
        assertThat(project.member.runSsh(line).lines())
                .contains(ends.get(0) + ": reached", ends.get(1) + ": not reached", ends.get(3) + ": reached");
        assertThat(project.member.runSsh("srun --overlap --jobid=" + job + " bash reach.sh " + ends.get(1)))
                .isEqualToIgnoringNewLines(ends.get(1) + ": reached");
        List<String> nothing = ends.stream().map(end -> end + ": not reached").toList();
        other.member.put(ProjectJobTest.DEMO.resolve("reach.sh"));
        assertThat(other.member.runSsh(line).lines()).containsExactlyElementsOf(nothing);
        String worker = other.member.submit("--output=reach.txt --wrap='" + line + "'");
        other.member.awaitEnd(worker);
        assertThat(other.member.runSsh("cat reach.txt").lines()).containsExactlyElementsOf(nothing);
        assertThat(project.openCircuit(project.controller())).doesNotContain("not-allowed");
        assertThat(other.openCircuit(project.controller())).contains("relay not-allowed");
    }
}
