package org.cloister.lab.project;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.cloister.lab.Lab;
import org.cloister.lab.vm.NodeStart;

/**
 * A worker of a running project, requested by a member's job. Its times are those in the job's record (docs/slurm.md),
 * counted from the site's report that the ticket runs. So they include the host's creation of the VM, a second or less
 * before its kernel.
 */
public final class MemberJobNode implements NodeStart, AutoCloseable {
    /** The site's phase, before that report. */
    private static final String QUEUE = "queue";

    private final WorkingProject project;

    private MemberJobNode(WorkingProject project) {
        this.project = project;
    }

    /**
     * Starts it with a running controlling VM.
     *
     * @param folder an empty one
     */
    public static MemberJobNode at(Lab lab, Path folder) throws IOException {
        return new MemberJobNode(WorkingProject.at(lab, folder));
    }

    @Override
    public Started start() throws IOException {
        MemberDevice member = project.stage().member;
        String job = member.submit("--output=/dev/null --wrap=true");
        member.awaitEnd(job);
        project.stage().awaitNoWorker();
        Map<String, Double> phases = new LinkedHashMap<>();
        double seconds = 0;
        for (Map.Entry<String, Double> phase : project.phases(job).entrySet()) {
            if (!phase.getKey().equals(QUEUE)) {
                seconds += phase.getValue();
                phases.put(phase.getKey(), seconds);
            }
        }
        return new Started(seconds, phases);
    }

    @Override
    public void close() throws IOException {
        project.close();
    }
}
