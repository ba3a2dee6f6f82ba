package org.cloister.vm.cluster;

import java.nio.file.Path;
import org.cloister.vm.drive.DriveLayout;
import org.cloister.vm.slurm.LocalConfiguration;

/**
 * What a project's Local Slurm is made of in its controlling VM.
 *
 * @param slurm its slurm.conf
 * @param drive where the daemons keep what is to last
 */
public record ClusterPlan(LocalConfiguration slurm, DriveLayout drive) {
    /** Where the packages of agent-vm have hooks and the submit plugin, on workers as here. */
    public static final Path HOOKS = Path.of("/usr/lib/cloister/slurm");

    /** On tmpfs: MariaDB answers there and nowhere else. */
    public Path databaseSocket() {
        return Path.of("/run/mysqld/mysqld.sock");
    }
}
