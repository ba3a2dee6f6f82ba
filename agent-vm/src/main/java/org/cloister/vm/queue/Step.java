package org.cloister.vm.queue;

import org.cloister.vm.slurm.Demand;
import org.cloister.vm.slurm.Job;
import org.cloister.vm.slurm.JobId;

/** One thing to have Slurm do. What fails is decided anew after the next look. */
sealed interface Step {
    record Place(JobId job, String ticket, int nodes) implements Step {}

    record Unplace(JobId job, Demand demand) implements Step {}

    record Hold(JobId job) implements Step {}

    /** @param job that has started */
    record Save(Job job) implements Step {}

    record Drain(String node, String why) implements Step {}

    record Down(String node, String why) implements Step {}

    record Remove(String node) implements Step {}
}
