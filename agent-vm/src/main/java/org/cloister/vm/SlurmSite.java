package org.cloister.vm;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.cloister.slurm.SlurmProgram;

/**
 * The Local Slurm, as its configuration file is written from and as its commands are run.
 *
 * @param cluster its name, and that of the one account that all members have
 * @param accounting the machine of its slurmdbd
 * @param programs where Slurm's commands lie; by PATH if empty
 * @param configuration a slurm.conf; Slurm's own default if empty
 * @param limit of one command
 */
public record SlurmSite(
        String cluster, String accounting, Optional<Path> programs, Optional<Path> configuration, Duration limit) {
    public SlurmProgram program() {
        return new SlurmProgram(programs, configuration, limit);
    }
}
