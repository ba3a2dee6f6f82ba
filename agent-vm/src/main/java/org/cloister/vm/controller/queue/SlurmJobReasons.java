package org.cloister.vm.controller.queue;

import java.util.List;
import org.cloister.vm.controller.slurm.LocalSlurmJob;

/** Interprets Slurm's reasons for which a job is pending. An unknown reason counts as one for which the job waits. */
final class SlurmJobReasons {
    /** Reasons with which a job would start if it had nodes; Slurm writes some with blanks or underscores. */
    private static final List<String> FOR_NODES = List.of("None", "Priority", "Resources", "NodeDown", "(null)");

    private static final List<String> FOR_NODES_BEGIN = List.of("ReqNodeNotAvail", "Nodes required", "Nodes_required");

    private SlurmJobReasons() {}

    /** Returns whether a job waits for nothing but nodes. */
    static boolean waitsForNodes(LocalSlurmJob job) {
        String reason = job.reason();
        boolean forNodes = reason.isEmpty()
                || FOR_NODES.contains(reason)
                || FOR_NODES_BEGIN.stream().anyMatch(reason::startsWith);
        return forNodes && !isHeld(job);
    }

    static boolean isHeld(LocalSlurmJob job) {
        return job.reason().startsWith("JobHeld") || (job.priority() == 0 && !doesNotFit(job));
    }

    /**
     * Returns whether Slurm reports that the assigned nodes do not have what the job requests; it then sets the
     * priority to 0.
     */
    static boolean doesNotFit(LocalSlurmJob job) {
        return job.reason().startsWith("BadConstraints");
    }
}
