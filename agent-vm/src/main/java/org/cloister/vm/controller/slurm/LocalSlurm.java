package org.cloister.vm.controller.slurm;

import java.util.List;
import org.cloister.slurm.SlurmRefusedException;
import org.cloister.slurm.SlurmUnavailableException;

/** The project's own slurmctld. Each call asks it afresh; what was asked of one that gave no answer may have been done. */
public interface LocalSlurm {
    /** The one feature that the block of nodes has which no job ever gets. */
    String UNPLACED = "unplaced";
    /** How the names of that block begin. */
    String PLACEHOLDER_PREFIX = "waiting-for-vm-";

    /** A ticket's feature in Slurm: a letter first, for a number there is a count. */
    static String feature(String ticket) {
        return "t" + ticket;
    }

    /** Every job that slurmctld still has, those that wait in the order in which it would start them. */
    List<LocalSlurmJob> jobs() throws SlurmUnavailableException;

    /** Every node but the block. */
    List<LocalSlurmNode> nodes() throws SlurmUnavailableException;

    /**
     * Lets a waiting job run on its ticket's nodes and on no others.
     *
     * @throws SlurmRefusedException if Slurm will not, such as for a job that is not waiting any more
     */
    void placeJob(LocalSlurmJobId job, String ticket, int nodes)
            throws SlurmUnavailableException, SlurmRefusedException;

    /** Has a job wait again, as {@code demand} says it was before it was placed; its priority is Slurm's to compute. */
    void unplaceJob(LocalSlurmJobId job, JobRequirements demand)
            throws SlurmUnavailableException, SlurmRefusedException;

    /** Held until its owner or an administrator releases it. */
    void holdJob(LocalSlurmJobId job) throws SlurmUnavailableException, SlurmRefusedException;

    /**
     * Of a job that slurmctld still has, or that accounting has.
     *
     * @param text at most 1024 characters of ASCII, without backslash and quotation marks, of which sacctmgr makes others
     */
    void setAdminComment(LocalSlurmJobId job, String text) throws SlurmUnavailableException, SlurmRefusedException;

    /**
     * Has slurmctld write down what it knows. It does so at each change that somebody asks for; what its backfill scheduler starts it
     * keeps to itself until then, or for five minutes, and when it is killed it starts that again.
     *
     * @param job that runs; of one that is over it is nothing
     */
    void saveState(LocalSlurmJob job) throws SlurmUnavailableException, SlurmRefusedException;

    /** The node takes no further job. */
    void drainNode(String node, String why) throws SlurmUnavailableException, SlurmRefusedException;

    /** Its VM has gone: whatever job is there ends, or waits again, as Slurm has it of a node that failed. */
    void markNodeDown(String node, String why) throws SlurmUnavailableException, SlurmRefusedException;

    /**
     * Takes a node out that no job has; of one that is not there: no error.
     *
     * @throws SlurmRefusedException if a job is there, or slurmctld will not for another reason; to be tried again
     */
    void deleteNode(String node) throws SlurmUnavailableException, SlurmRefusedException;
}
