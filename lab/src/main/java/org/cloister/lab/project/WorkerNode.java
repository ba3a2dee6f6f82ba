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
import org.cloister.lab.vm.NodeStart;

/**
 * A worker of a project at work, asked for by a member's job: its times are those that the job's record has (docs/slurm.md),
 * from the site's word that the ticket runs. So the host's making of the VM is among them, a second or less before its kernel.
 */
public final class WorkerNode implements NodeStart, AutoCloseable {
    /** Behind these a node is idle; the first one is the site's queue, and the last one the node's end. */
    private static final Pattern PHASE = Pattern.compile(" (boot|evidence|keys|tunnel|registration)=([0-9.]+)");

    private static final int PHASES = 5;
    private static final Duration LIMIT = Duration.ofMinutes(1);

    private final ProjectStage project;
    private final ProjectStage.Opened opened;

    private WorkerNode(ProjectStage project, ProjectStage.Opened opened) {
        this.project = project;
        this.opened = opened;
    }

    /**
     * With its controlling VM at work.
     *
     * @param folder without anything in it
     */
    public static WorkerNode at(Lab lab, Path folder) throws IOException {
        WorkingSite site = WorkingSite.start(lab, folder.resolve("site"));
        boolean ready = false;
        try {
            ProjectStage project = ProjectStage.first(site, folder);
            ProjectStage.Opened opened = project.make();
            project.awaitWork(opened);
            project.member.configure();
            ready = true;
            return new WorkerNode(project, opened);
        } finally {
            if (!ready) {
                site.close();
            }
        }
    }

    @Override
    public Started start() throws IOException {
        String job = project.member.submit("--output=/dev/null --wrap=true");
        project.member.awaitEnd(job);
        project.awaitNoWorker();
        Map<String, Double> phases = new LinkedHashMap<>();
        Poll.until("the phases of job " + job, LIMIT, "read the VMs' consoles", () -> {
            Matcher phase = PHASE.matcher(project.member.said("sacct -X -n -P -o AdminComment -j " + job));
            double seconds = 0;
            while (phase.find()) {
                seconds += Double.parseDouble(phase.group(2));
                phases.put(phase.group(1), seconds);
            }
            return phases.size() == PHASES;
        });
        return new Started(phases.values().stream().reduce(0.0, Math::max), phases);
    }

    @Override
    public void close() throws IOException {
        opened.close();
        project.close();
    }
}
