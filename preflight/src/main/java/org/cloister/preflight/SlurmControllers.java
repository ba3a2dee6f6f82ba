package org.cloister.preflight;

import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.UnknownException;

/** The partition of controlling VMs: there, up, open to the service account, and without an end of its own. */
record SlurmControllers(RelaySlurm slurm) implements Check {
    @Override
    public String name() {
        return "slurm-controllers";
    }

    @Override
    public Finding run(Machine machine) throws UnknownException {
        if (slurm.controllers().isEmpty()) {
            return Finding.ok(this, "no partition for controlling VMs: the relay takes no openings");
        }
        String partition = slurm.controllers().get();
        PartitionLook look = PartitionLook.of(this, machine, partition, "--controllers", slurm.user());
        return look.finding().orElseGet(() -> limit(partition, look.text().value("MaxTime")));
    }

    private Finding limit(String partition, String most) {
        if (most.equals("UNLIMITED")) {
            return Finding.ok(this, partition + " is UP, without time limit");
        }
        return Finding.warning(
                this,
                partition + " ends jobs after " + most + ", and each project's controlling VM with them",
                "scontrol update PartitionName=" + partition + " MaxTime=UNLIMITED, and the same in slurm.conf");
    }
}
