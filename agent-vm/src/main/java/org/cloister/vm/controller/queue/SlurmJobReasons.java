package org.cloister.vm.controller.queue;

import java.util.List;
import org.cloister.vm.controller.slurm.LocalSlurmJob;

/** What Slurm's words for why a job waits mean here. A word that is not known is one for which a job waits. */
final class SlurmJobReasons {
    /** With these a job would start if it had nodes; Slurm writes some with blanks or underscores. */
    private static final List<String> FOR_NODES = List.of("None", "Priority", "Resources", "NodeDown", "(null)");

    private static final List<String> FOR_NODES_BEGIN = List.of("ReqNodeNotAvail", "Nodes required", "Nodes_required");

    private SlurmJobReasons() {}

    /** Whether nodes are all that it waits for. */
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

    /** The nodes that it was given are not what it asked for, says Slurm, and has set its priority to 0. */
    static boolean doesNotFit(LocalSlurmJob job) {
        return job.reason().startsWith("BadConstraints");
    }
}
