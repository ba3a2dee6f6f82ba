package org.cloister.host.slurmstep;

import java.io.IOException;
import org.cloister.slurm.SlurmUnavailableException;

/** Numbers of jobs whose cgroups have a SLUID for a name, as Slurm gives them from 26.05 on. */
@FunctionalInterface
public interface JobNumbers {
    /**
     * Returns the number of a job of the service account.
     *
     * @param sluid {@code s} and 13 digits and capitals
     * @throws NotInJobStep if the service account has no such job on this host
     * @throws SlurmUnavailableException if Slurm did not answer, so that this is unknown
     */
    long numberOf(String sluid) throws IOException;
}
