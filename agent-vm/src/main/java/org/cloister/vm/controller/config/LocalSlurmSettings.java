package org.cloister.vm.controller.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.cloister.slurm.SlurmCommand;

/**
 * The Local Slurm, as its configuration file is written from and as its commands are run.
 *
 * @param cluster its name, and that of the one account that all members have
 * @param accounting the machine of its slurmdbd
 * @param programs where Slurm's commands lie; by PATH if empty
 * @param configuration a slurm.conf; Slurm's own default if empty
 * @param commandTimeout of one command
 */
public record LocalSlurmSettings(
        String cluster,
        String accounting,
        Optional<Path> programs,
        Optional<Path> configuration,
        Duration commandTimeout) {
    public SlurmCommand program() {
        return new SlurmCommand(programs, configuration, commandTimeout);
    }
}
