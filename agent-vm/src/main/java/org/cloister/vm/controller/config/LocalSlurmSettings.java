package org.cloister.vm.controller.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.cloister.slurm.SlurmCommand;

/**
 * Settings of the Local Slurm, for its configuration file and its commands.
 *
 * @param cluster name of the cluster and of the one account of all members
 * @param accounting machine of its slurmdbd
 * @param programs folder of Slurm's commands; found by PATH if empty
 * @param configuration a slurm.conf; Slurm's own default if empty
 * @param commandTimeout of one command, when the daemons have started
 */
public record LocalSlurmSettings(
        String cluster,
        String accounting,
        Optional<Path> programs,
        Optional<Path> configuration,
        Duration commandTimeout) {
    public SlurmCommand program() {
        return program(commandTimeout);
    }

    /**
     * Returns the commands with another time limit.
     *
     * @param limit of one command
     */
    public SlurmCommand program(Duration limit) {
        return new SlurmCommand(programs, configuration, limit);
    }
}
