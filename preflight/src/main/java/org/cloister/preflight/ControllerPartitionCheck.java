package org.cloister.preflight;

import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks the partition of controlling VMs: it exists, is up, is open to the service account, and has no time limit of
 * its own.
 */
record ControllerPartitionCheck(RelaySlurmSettings slurm) implements PreflightCheck {
    @Override
    public String name() {
        return "slurm-controllers";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        if (slurm.controllers().isEmpty()) {
            return PreflightFinding.ok(this, "no partition for controlling VMs: the relay takes no openings");
        }
        String partition = slurm.controllers().get();
        SlurmPartitionState state = SlurmPartitionState.of(this, machine, partition, "--controllers", slurm.user());
        return state.finding().orElseGet(() -> limit(partition, state.text().value("MaxTime")));
    }

    private PreflightFinding limit(String partition, String most) {
        if (most.equals("UNLIMITED")) {
            return PreflightFinding.ok(this, partition + " is UP, without time limit");
        }
        return PreflightFinding.warning(
                this,
                partition + " ends jobs after " + most + ", and each project's controlling VM with them",
                "scontrol update PartitionName=" + partition + " MaxTime=UNLIMITED, and the same in slurm.conf");
    }
}
