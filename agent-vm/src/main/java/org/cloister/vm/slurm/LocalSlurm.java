package org.cloister.vm.slurm;

import java.util.List;
import org.cloister.slurm.SlurmRefused;
import org.cloister.slurm.SlurmUnavailable;

/** The project's own slurmctld. Each call asks it afresh; what was asked of one that gave no answer may have been done. */
public interface LocalSlurm {
    /** The one feature that the block of nodes has which no job ever gets. */
    String UNPLACED = "unplaced";
    /** How the names of that block begin. */
    String BLOCK = "waiting-for-vm-";

    /** A ticket's feature in Slurm: a letter first, for a number there is a count. */
    static String feature(String ticket) {
        return "t" + ticket;
    }

    /** Every job that slurmctld still has, those that wait in the order in which it would start them. */
    List<Job> jobs() throws SlurmUnavailable;

    /** Every node but the block. */
    List<Node> nodes() throws SlurmUnavailable;

    /**
     * Lets a waiting job run on its ticket's nodes and on no others.
     *
     * @throws SlurmRefused if Slurm will not, such as for a job that is not waiting any more
     */
    void place(JobId job, String ticket, int nodes) throws SlurmUnavailable, SlurmRefused;

    /** Has a job wait again, as {@code demand} says it was before it was placed; its priority is Slurm's to compute. */
    void unplace(JobId job, Demand demand) throws SlurmUnavailable, SlurmRefused;

    /** Held until its owner or an administrator releases it. */
    void hold(JobId job) throws SlurmUnavailable, SlurmRefused;

    /**
     * Of a job that slurmctld still has, or that accounting has.
     *
     * @param text at most 1024 characters of ASCII, without backslash and quotation marks, of which sacctmgr makes others
     */
    void comment(JobId job, String text) throws SlurmUnavailable, SlurmRefused;

    /**
     * Has slurmctld write down what it knows. It does so at each change that somebody asks for; what its backfill scheduler starts it
     * keeps to itself until then, or for five minutes, and when it is killed it starts that again.
     *
     * @param job that runs; of one that is over it is nothing
     */
    void save(Job job) throws SlurmUnavailable, SlurmRefused;

    /** The node takes no further job. */
    void drain(String node, String why) throws SlurmUnavailable, SlurmRefused;

    /** Its VM has gone: whatever job is there ends, or waits again, as Slurm has it of a node that failed. */
    void down(String node, String why) throws SlurmUnavailable, SlurmRefused;

    /**
     * Takes a node out that no job has; of one that is not there: no error.
     *
     * @throws SlurmRefused if a job is there, or slurmctld will not for another reason; to be tried again
     */
    void remove(String node) throws SlurmUnavailable, SlurmRefused;
}
