package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.lab.Poll;
import org.cloister.lab.project.ProjectFixture;
import org.cloister.lab.site.ScratchDisks;
import org.cloister.lab.site.SiteHosts;
import org.cloister.lab.wire.Wiretap;

/**
 * A job that runs into its time limit and says the time all along, under which go wrong its worker's clock, from the beginning and
 * once more, and the storage that it writes to. It has scratch, and keeps a marker there.
 *
 * @param opened the controlling VM's
 */
record LimitedJob(ProjectFixture project, ProjectFixture.OpenedVm opened, String id) {
    private static final int SCRATCH_MIB = 40;
    private static final int MARKED_BYTES = 8 << 20;
    private static final String SCRIPT = "yes " + Wiretap.MARKER
            + "-scratch | head -c 4M | tee /scratch/file >/tmp/file; sync; df -m --output=size /scratch | tail -n 1"
            + " | sed \"s/ */scratch /\"; touch written; while sleep 1; do date +%s; done";

    /** No other worker may be there. The clock is wrong before the worker's agent has spoken. */
    static LimitedJob submit(ProjectFixture project, ProjectFixture.OpenedVm opened) throws IOException {
        String id = project.member.submit(
                "--time=2 --tmp=" + SCRATCH_MIB + " --output=limited.txt --wrap='" + SCRIPT + "'");
        Poll.until(
                "a worker",
                SiteHosts.LIMIT,
                "read agent-host's log",
                SiteHosts.AGAIN,
                () -> project.vms().size() == 2);
        for (ResourceOwner vm : project.vms()) {
            if (!vm.equals(opened.owner())) {
                project.site().guests().writeConsole(vm, "clock + 3 hours");
            }
        }
        return new LimitedJob(project, opened, id);
    }

    /** While it runs. */
    void disturb() throws IOException {
        project.site().guests().writeConsole(project.worker(id), "clock + 5 hours");
        project.site().guests().writeConsole(opened.owner(), "freeze 20");
    }

    /** On its host, where what it wrote is on the disk. */
    void assertScratchIsNoise() throws IOException {
        project.member.runSsh("until [ -e written ]; do sleep 1; done");
        ScratchDisks disks = ScratchDisks.of(project.site().lab());
        assertThat(disks.files()).hasSize(1);
        assertThat(disks.written()).isGreaterThan(MARKED_BYTES);
        assertThat(disks.found(Wiretap.MARKER)).isEmpty();
    }

    /** When it is over: it said all in spite of the storage, had the scratch that it asked for, and nothing of that is left. */
    void assertOver() throws IOException {
        assertThat(project.member.state(id)).isEqualTo("TIMEOUT|0:0");
        String output = project.member.runSsh("cat limited.txt");
        assertThat(output).contains("DUE TO TIME LIMIT").containsPattern("scratch (4\\d|5\\d)\\n");
        assertTimes(output.lines()
                .filter(line -> line.matches("\\d+"))
                .map(Long::valueOf)
                .toList());
        project.awaitNoWorker();
        assertThat(ScratchDisks.of(project.site().lab()).files()).isEmpty();
    }

    /** Set right before it began, wrong for a time, and right again. */
    private void assertTimes(List<Long> times) {
        assertThat(project.readConsole(opened))
                .containsPattern("its clock is \\d{5} s from ours; the hand-over sets it");
        long now = Instant.now().getEpochSecond();
        assertThat(times.get(0)).isLessThan(now);
        assertThat(times).hasSizeGreaterThan(60).anyMatch(time -> time > now + 4 * 3600);
        assertThat(times.get(times.size() - 1)).isLessThan(now);
        assertThat(project.readConsole(opened)).contains("heard: freeze").doesNotContain("Main process exited");
    }
}
