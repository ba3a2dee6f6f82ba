package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.cloister.lab.project.MemberDevice;
import org.cloister.lab.project.ProjectFixture;
import org.cloister.protocol.handover.WorkerName;

/** A worker whose munged has another key than its Local Slurm. */
final class ForeignMungeKeyWorker {
    private ForeignMungeKeyWorker() {}

    /** It is told before its hand-over; the member's home has {@code phase.sh}. Its logs are kept, and the next worker does the job. */
    static void assertJoinsNothing(ProjectFixture project) throws IOException {
        MemberDevice member = project.member;
        String job = member.submit("--output=/dev/null --wrap=true");
        String ticket = member.runSsh("bash phase.sh " + job + " boot").strip().split(" ", 2)[1];
        project.site().hosts().awaitRunning(ticket);
        project.site().guests().writeConsole(project.vms(ticket).get(0), "munge other");
        member.awaitEnd(job);
        assertThat(member.state(job)).isEqualTo("COMPLETED|0:0");
        assertThat(member.ticket(job)).isNotEqualTo(ticket);
        String logs = "cloister-" + WorkerName.label(ticket, 0) + "-*/";
        assertThat(member.runSsh("cat " + logs + "journal")).contains("no-slurmd");
    }
}
