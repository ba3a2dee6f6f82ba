package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.cloister.lab.Lab;
import org.cloister.lab.project.MemberDevice;
import org.cloister.lab.project.ProjectFixture;
import org.cloister.lab.site.WorkingSite;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** The books balance: every job of a project ends as it was meant to, in a row and at once, and nothing of any of them is left. */
@Tag("scenario")
@Tag("vm")
@Timeout(2 * 3600)
@ExtendWith(SharedLab.class)
@SuppressWarnings("NullAway.Init") // JUnit sets it
class ManyJobsTest {
    private static final int IN_A_ROW = 20;
    private static final String WAITS = "echo right; until [ -e %s ]; do sleep 1; done";

    @TempDir
    private Path folder;

    private ProjectFixture project;
    private MemberDevice member;

    /** Kind of a job, and how it ends in accounting. */
    private enum Kind {
        ONE("--tmp=40", "echo right | tee /scratch/file", "COMPLETED|0:0"),
        TWO("--nodes=2", "[ $(srun hostname | sort -u | wc -l) = 2 ] && echo right", "COMPLETED|0:0"),
        FAILS("", "echo right; exit 7", "FAILED|7:0"),
        CANCELLED("", WAITS, "CANCELLED"),
        /** Its worker is; it runs again. */
        KILLED("--requeue", WAITS, "COMPLETED|0:0"),
        /** The daemons of both hosts are killed and started again under it. */
        HOSTS_KILLED("", WAITS, "COMPLETED|0:0");

        private final String text;
        private final String script;
        private final String end;

        Kind(String text, String script, String end) {
            this.text = text;
            this.script = script;
            this.end = end;
        }
    }

    /** @param go the file for which it waits, if it does */
    private record Submitted(Kind kind, String id, String go) {}

    /** With {@code cloister.sweep.all} alone: what a run of each kind shows is in {@link ProjectJobTest}. */
    @Test
    void every_job_ends_as_it_should_and_nothing_is_left(Lab lab) throws Exception {
        assumeTrue(Boolean.getBoolean("cloister.sweep.all"), "lab/test --all");
        try (ProjectFixture made =
                ProjectFixture.first(WorkingSite.start(lab, folder.resolve("site")), folder.resolve("people"))) {
            project = made;
            member = made.member;
            try (ProjectFixture.OpenedVm opened = project.openNewDrive()) {
                project.awaitWork(opened);
                member.configure();
                project.explained(this::printPlan);
                project.first.close(opened.owner().ticket());
            }
            project.awaitNothing();
            assertThat(lab.slurm().client("squeue", "-h")).isEmpty();
        }
    }

    private void printPlan() throws IOException {
        List<Submitted> all = new ArrayList<>();
        for (Kind kind : drawn()) {
            Submitted job = submit(kind, all.size());
            strike(job);
            member.awaitEnd(job.id);
            all.add(job);
        }
        List<Submitted> parallel = new ArrayList<>();
        for (Kind kind : List.of(Kind.KILLED, Kind.CANCELLED, Kind.TWO, Kind.HOSTS_KILLED, Kind.FAILS)) {
            parallel.add(submit(kind, all.size() + parallel.size()));
        }
        for (Submitted job : parallel) {
            strike(job);
        }
        for (Submitted job : parallel) {
            member.awaitEnd(job.id);
        }
        all.addAll(parallel);
        assertBooks(all);
        project.awaitNoWorker();
    }

    /** Each kind at least three times. */
    private static List<Kind> drawn() {
        List<Kind> all = new ArrayList<>();
        for (int i = 0; i < IN_A_ROW; i++) {
            all.add(Kind.values()[i % Kind.values().length]);
        }
        Collections.shuffle(all, new Random(ScenarioSeed.of("many jobs")));
        return all;
    }

    private Submitted submit(Kind kind, int number) throws IOException {
        String go = "go-" + number;
        String script = kind.script.formatted(go);
        return new Submitted(kind, member.submit(kind.text + " --output=%j.txt --wrap='" + script + "'"), go);
    }

    private void strike(Submitted job) throws IOException {
        if (!job.kind.script.equals(WAITS)) {
            return;
        }
        member.awaitRunning(job.id);
        switch (job.kind) {
            case CANCELLED -> member.runSsh("scancel " + job.id);
            case KILLED -> project.site().guests().kill(project.worker(job.id));
            default -> {
                project.site().hosts().killAll();
                member.awaitLogin();
            }
        }
        member.runSsh("touch " + job.go);
    }

    private void assertBooks(List<Submitted> jobs) throws IOException {
        List<String> accounted =
                member.runSsh("sacct -n -X -P -o JobID,State,ExitCode").lines().toList();
        String right = member.runSsh("grep -l -x right *.txt");
        for (Submitted job : jobs) {
            assertThat(accounted).as(job.toString()).anyMatch(line -> line.startsWith(job.id + "|" + job.kind.end));
            assertThat(right.lines()).as(job.toString()).contains(job.id + ".txt");
        }
        assertThat(accounted).hasSameSizeAs(jobs);
        assertThat(member.runSsh("squeue -h")).isEmpty();
    }
}
