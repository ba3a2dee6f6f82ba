package org.cloister.vm.controller.daemons;

import java.nio.file.Path;
import org.cloister.vm.controller.drive.DriveLayout;
import org.cloister.vm.controller.slurm.LocalSlurmConf;

/**
 * Plan of a project's Local Slurm in its controlling VM.
 *
 * @param slurmConf its slurm.conf
 * @param driveLayout folders of the daemons' durable state
 */
public record LocalSlurmPlan(LocalSlurmConf slurmConf, DriveLayout driveLayout) {
    /** Folder of the hooks and the submit plugin from agent-vm's packages, the same on workers. */
    public static final Path HOOKS = Path.of("/usr/lib/cloister/slurm");

    /** Returns MariaDB's socket on tmpfs, the only one on which it listens. */
    public Path databaseSocket() {
        return Path.of("/run/mysqld/mysqld.sock");
    }
}
