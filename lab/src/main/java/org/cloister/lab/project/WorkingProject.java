package org.cloister.lab.project;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.lab.Lab;
import org.cloister.lab.Poll;
import org.cloister.lab.site.WorkingSite;

/** The first project of a new site, with its controlling VM running, to which a member's ssh can connect. */
public record WorkingProject(ProjectFixture stage, ProjectFixture.OpenedVm opened) implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final Duration AGAIN = Duration.ofSeconds(3);
    /** See docs/slurm.md, AdminComment. */
    private static final Pattern PHASE =
            Pattern.compile(" (queue|boot|evidence|keys|tunnel|registration|teardown)=([0-9.]+)");

    private static final String LAST = "teardown";

    /** @param folder an empty one */
    public static WorkingProject at(Lab lab, Path folder) throws IOException {
        WorkingSite site = WorkingSite.start(lab, folder.resolve("site"));
        boolean ready = false;
        try {
            ProjectFixture project = ProjectFixture.first(site, folder.resolve("people"));
            ProjectFixture.OpenedVm opened = project.openNewDrive();
            project.awaitWork(opened);
            project.member.configure();
            ready = true;
            return new WorkingProject(project, opened);
        } finally {
            if (!ready) {
                site.close();
            }
        }
    }

    /**
     * Returns the seconds in each phase before a job's first line, in their order, of a member's job that has ended.
     */
    public Map<String, Double> phases(String job) throws IOException {
        Map<String, Double> phases = all(job);
        phases.remove(LAST);
        return phases;
    }

    /** Returns the seconds in each phase, the last one after the job's end, of a member's job that has ended. */
    public Map<String, Double> all(String job) throws IOException {
        Map<String, Double> phases = new LinkedHashMap<>();
        Poll.until("the phases of job " + job, LIMIT, "read the VMs' consoles", AGAIN, () -> {
            Matcher phase = PHASE.matcher(stage.member.phases(job));
            while (phase.find()) {
                phases.put(phase.group(1), Double.parseDouble(phase.group(2)));
            }
            return phases.containsKey(LAST);
        });
        return phases;
    }

    @Override
    public void close() throws IOException {
        opened.close();
        stage.close();
    }
}
