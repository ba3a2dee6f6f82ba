package org.cloister.vm.controller.daemons;

import java.nio.file.Path;
import org.cloister.vm.controller.drive.DriveLayout;
import org.cloister.vm.controller.slurm.LocalSlurmConf;

/**
 * What a project's Local Slurm is made of in its controlling VM.
 *
 * @param slurmConf its slurm.conf
 * @param driveLayout where the daemons keep what is to last
 */
public record LocalSlurmPlan(LocalSlurmConf slurmConf, DriveLayout driveLayout) {
    /** Where the packages of agent-vm have hooks and the submit plugin, on workers as here. */
    public static final Path HOOKS = Path.of("/usr/lib/cloister/slurm");

    /** On tmpfs: MariaDB answers there and nowhere else. */
    public Path databaseSocket() {
        return Path.of("/run/mysqld/mysqld.sock");
    }
}
