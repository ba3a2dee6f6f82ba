package org.cloister.relay.slurm;

import java.util.Collection;
import java.util.List;
import org.cloister.slurm.SlurmRefusedException;
import org.cloister.slurm.SlurmUnavailableException;

/**
 * The site's Slurm, where each ticket is one job of the service account whose name is the ticket's id.
 *
 * <p>No method waits longer than its implementation's limit. Nothing but resources and ticket ids goes in.
 */
public interface GlobalSlurm {
    /** Which of its partitions are the relay's. */
    GlobalPartitions partitions();

    /**
     * Every job of the service account that slurmctld still has, ended ones of the last minutes too. Jobs whose names
     * are no ticket ids are left out; several of one ticket are all there.
     */
    List<GlobalJob> jobs() throws SlurmUnavailableException;

    /** What accounting knows of ended jobs by ticket id; empty where the site has no accounting. */
    List<GlobalJob> accounted(Collection<String> tickets) throws SlurmUnavailableException;

    /**
     * @return the job's id
     * @throws SlurmUnavailableException if it is unknown whether it was enqueued: look again and again before the next
     *     try
     * @throws SlurmRefusedException if it is not enqueued; Slurm may keep a record of it that says FAILED
     */
    long submit(JobSubmission what) throws SlurmUnavailableException, SlurmRefusedException;

    /** Asks for the end of a job; of one that has ended or is not there: no error. */
    void cancel(long job) throws SlurmUnavailableException;

    /**
     * CPUs and memory that the job has on each of its nodes, in Slurm's order of nodes; empty if it has none or is not
     * known. Of a job that has ended it may be what it had.
     */
    List<NodeAllocation> shares(long job) throws SlurmUnavailableException;
}
