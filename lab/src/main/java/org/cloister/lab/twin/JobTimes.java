package org.cloister.lab.twin;

import java.util.Map;
import org.cloister.lab.LabException;

/**
 * Times of one job, in seconds.
 *
 * @param submitToStart from before sbatch to the first line of its script
 * @param startShare from the start of QEMU's process until systemd in the guest starts the side's first unit: QEMU,
 *     firmware, kernel, systemd
 * @param endToFree from the last line until VM, port and Global job are gone
 * @param endToGone from the last line until the node is gone, too, from the project's own Slurm
 * @param endShare from the order to power off to the end of QEMU's process
 * @param phases duration of each phase, in no order
 */
public record JobTimes(
        double submitToStart,
        double startShare,
        double endToFree,
        double endToGone,
        double endShare,
        Map<String, Double> phases) {
    /** @param poweroff when that was ordered, by this machine's clock */
    static JobTimes of(
            TracedJob job,
            WorkerQemu qemu,
            double qemuEnd,
            double poweroff,
            SiteHoldings.ReleaseTimes free,
            Map<String, Double> phases)
            throws LabException {
        double freed = Math.max(qemuEnd, Math.max(free.ports(), free.jobs())) - job.at("last");
        return new JobTimes(
                job.submitToStart(),
                job.firstUnit() - qemu.startedS(),
                freed,
                Math.max(freed, job.at("gone") - job.at("last")),
                qemuEnd - poweroff,
                phases);
    }
}
