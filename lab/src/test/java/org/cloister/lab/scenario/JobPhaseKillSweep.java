package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.cloister.lab.project.MemberDevice;
import org.cloister.lab.project.ProjectFixture;
import org.cloister.protocol.handover.WorkerName;

/** Kills, each under a job of its own that is to end as documented, of which the site keeps nothing, and of a worker's agent its logs. */
final class JobPhaseKillSweep {
    private final ProjectFixture project;
    private final ProjectFixture.OpenedVm opened;
    private final MemberDevice member;
    private final Set<String> silent = new HashSet<>();

    /** The member's home has {@code go.sh} and {@code phase.sh}. */
    JobPhaseKillSweep(ProjectFixture project, ProjectFixture.OpenedVm opened) {
        this.project = project;
        this.opened = opened;
        this.member = project.member;
    }

    /** Tickets whose worker lost its agent, and so could not sign its part: their receipts say that and nothing else against them. */
    Set<String> silent() {
        return Set.copyOf(silent);
    }

    /** It goes on until it has been hit, or is to end for that. */
    void assertEnds(JobPhaseKill kill) throws IOException {
        String job = member.submit((kill.requeue() ? "--requeue" : "--no-requeue") + " --output=go.txt go.sh");
        System.out.println("job " + job + ": " + kill);
        String go = "touch go-" + job;
        Set<String> tickets = new HashSet<>();
        for (String phase : kill.phases()) {
            if (phase.equals(JobPhaseKill.TEARDOWN)) {
                member.runSsh(go);
            }
            String[] found =
                    member.runSsh("bash phase.sh " + job + " " + phase).strip().split(" ", 2);
            System.out.println("job " + job + ": " + String.join(", ticket ", found));
            tickets.add(found[1]);
            if (kill.victim() == JobPhaseKill.Victim.WORKER_AGENT) {
                silent.add(found[1]);
            }
            kill.strike(project, opened, job, found[1]);
            member.awaitLogin();
        }
        member.runSsh(go);
        member.awaitEnd(job);
        String end = member.state(job);
        System.out.println("job " + job + ": " + end);
        assertThat(end).as(kill.toString()).startsWith(kill.expectedEnd());
        for (String ticket : tickets) {
            project.site().lab().slurm().awaitOver(ticket, 0);
            if (kill.victim() == JobPhaseKill.Victim.WORKER_AGENT
                    && kill.phases().contains(JobPhaseKill.RUNNING)) {
                assertLogs(ticket);
            }
        }
    }

    /** In the home of the job's user, by the agent that came after the one that was killed. */
    private void assertLogs(String ticket) throws IOException {
        String logs = "cloister-" + WorkerName.label(ticket, 0) + "-*/";
        assertThat(member.runSsh("cat " + logs + "journal")).contains("code=killed", " kernel: ", "slurmd started");
    }
}
