package org.cloister.relay.slurm;

import java.util.Collection;
import java.util.List;
import org.cloister.slurm.SlurmRefusedException;
import org.cloister.slurm.SlurmUnavailableException;

/**
 * Access to the site's Global Slurm, where each ticket is one job of the service account whose name is the ticket's id.
 *
 * <p>No method waits longer than its implementation's limit. Only resources and ticket ids are sent.
 */
public interface GlobalSlurm {
    /** Returns the service account, the user as whom the relay submits jobs. */
    String user();

    /** Returns the partitions that the relay uses. */
    GlobalPartitions partitions();

    /**
     * Checks, without submitting, that sbatch knows each option of a ticket's job.
     *
     * @throws SlurmUnavailableException if it does not know one, or does not run; the text is for an administrator
     */
    void requireOptions() throws SlurmUnavailableException;

    /**
     * Returns every job of the service account that slurmctld still has, including jobs that ended in the last minutes.
     * Jobs whose names are not ticket ids are left out; if a ticket has several jobs, all are returned.
     */
    List<GlobalJob> jobs() throws SlurmUnavailableException;

    /** Returns what accounting has recorded of ended jobs, by ticket id; empty where the site has no accounting. */
    List<GlobalJob> accounted(Collection<String> tickets) throws SlurmUnavailableException;

    /**
     * Submits a job.
     *
     * @return the job's id
     * @throws SlurmUnavailableException if it is unknown whether the job was enqueued: poll repeatedly before the next
     *     try
     * @throws SlurmRefusedException if the job is not enqueued; Slurm may keep a record of it with the state FAILED
     */
    long submit(JobSubmission what) throws SlurmUnavailableException, SlurmRefusedException;

    /** Requests the end of a job; a job that has ended or does not exist is not an error. */
    void cancel(long job) throws SlurmUnavailableException;

    /**
     * Returns the CPUs and memory that the job has on each of its nodes, in Slurm's order of nodes; empty if it has
     * none or is not known. For an ended job this may be what it had.
     */
    List<NodeAllocation> shares(long job) throws SlurmUnavailableException;
}
