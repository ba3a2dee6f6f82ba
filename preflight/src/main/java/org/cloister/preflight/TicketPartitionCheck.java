package org.cloister.preflight;

import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/** Checks the partition for tickets: it exists, is up, and is open to the service account. */
record TicketPartitionCheck(RelaySlurmSettings slurm) implements PreflightCheck {
    @Override
    public String name() {
        return "slurm-partition";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        SlurmPartitionState state =
                SlurmPartitionState.of(this, machine, slurm.partition(), "--partition", slurm.user());
        return state.finding().orElseGet(() -> PreflightFinding.ok(this, slurm.partition() + " is UP"));
    }
}
