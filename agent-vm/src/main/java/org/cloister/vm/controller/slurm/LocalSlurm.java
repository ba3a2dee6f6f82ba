package org.cloister.vm.controller.slurm;

import java.util.List;
import org.cloister.slurm.SlurmRefusedException;
import org.cloister.slurm.SlurmUnavailableException;

/**
 * The project's own slurmctld. Each call queries it again; a request that got no response may have been carried out.
 */
public interface LocalSlurm {
    /** The only feature of the placeholder nodes, which no job ever gets. */
    String UNPLACED = "unplaced";
    /** Prefix of the placeholder nodes' names. */
    String PLACEHOLDER_PREFIX = "waiting-for-vm-";

    /** Returns a ticket's feature in Slurm. It starts with a letter, since a number would be a count there. */
    static String feature(String ticket) {
        return "t" + ticket;
    }

    /** Returns every job that slurmctld still has; pending ones are in the order in which it would start them. */
    List<LocalSlurmJob> jobs() throws SlurmUnavailableException;

    /** Returns every node except the placeholders. */
    List<LocalSlurmNode> nodes() throws SlurmUnavailableException;

    /**
     * Lets a pending job run on its ticket's nodes and on no others.
     *
     * @throws SlurmRefusedException if Slurm refuses, for example because the job is no longer pending
     */
    void placeJob(LocalSlurmJobId job, String ticket, int nodes)
            throws SlurmUnavailableException, SlurmRefusedException;

    /** Makes a job wait again with the requirements that it had before it was assigned; Slurm computes its priority. */
    void unplaceJob(LocalSlurmJobId job, JobRequirements requirements)
            throws SlurmUnavailableException, SlurmRefusedException;

    /** Holds a job until its owner or an administrator releases it. */
    void holdJob(LocalSlurmJobId job) throws SlurmUnavailableException, SlurmRefusedException;

    /**
     * Sets the AdminComment of a job that slurmctld or accounting still has.
     *
     * @param text at most 1024 ASCII characters, without backslash and quotation marks, which sacctmgr replaces
     */
    void setAdminComment(LocalSlurmJobId job, String text) throws SlurmUnavailableException, SlurmRefusedException;

    /**
     * Makes slurmctld save its state. It saves at each change that a client requests; what its backfill scheduler
     * starts it keeps in memory until then, or for five minutes, and if it is killed meanwhile, it starts that again.
     *
     * @param job a running job; for one that has ended, the call has no effect
     */
    void saveState(LocalSlurmJob job) throws SlurmUnavailableException, SlurmRefusedException;

    /** Drains a node, so that it accepts no further job. */
    void drainNode(String node, String why) throws SlurmUnavailableException, SlurmRefusedException;

    /** Marks a node whose VM is gone as down: its job ends or waits again, as Slurm handles a failed node. */
    void markNodeDown(String node, String why) throws SlurmUnavailableException, SlurmRefusedException;

    /**
     * Deletes a node without a job; an absent node is no error.
     *
     * @throws SlurmRefusedException if the node has a job, or slurmctld refuses for another reason; to be retried
     */
    void deleteNode(String node) throws SlurmUnavailableException, SlurmRefusedException;
}
