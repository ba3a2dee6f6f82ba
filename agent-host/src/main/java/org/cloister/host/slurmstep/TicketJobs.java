package org.cloister.host.slurmstep;

import java.io.IOException;
import org.cloister.slurm.SlurmUnavailableException;

/** Queries to the Global Slurm about jobs of the service account on this host. */
public interface TicketJobs extends JobNumbers {
    /**
     * Returns whether a job runs on this host, belongs to the service account, and is the ticket's.
     *
     * @throws SlurmUnavailableException if Slurm did not answer, so that this is unknown
     */
    boolean isTicketJob(long job, String ticket) throws IOException;
}
