package org.cloister.preflight;

import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.UnknownException;

/** The partition that tickets go to: there, up, and open to the service account. */
record SlurmPartition(RelaySlurm slurm) implements Check {
    @Override
    public String name() {
        return "slurm-partition";
    }

    @Override
    public Finding run(Machine machine) throws UnknownException {
        PartitionLook look = PartitionLook.of(this, machine, slurm.partition(), "--partition", slurm.user());
        return look.finding().orElseGet(() -> Finding.ok(this, slurm.partition() + " is UP"));
    }
}
