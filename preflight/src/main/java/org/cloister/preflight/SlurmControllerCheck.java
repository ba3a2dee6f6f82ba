package org.cloister.preflight;

import java.util.Optional;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.ProgramResult;
import org.cloister.preflight.machine.UndeterminedException;

/** Checks that a slurmctld of the cluster answers; a backup suffices as well as the primary one. */
record SlurmControllerCheck() implements PreflightCheck {
    @Override
    public String name() {
        return "slurm-controller";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        Optional<ProgramResult> result = machine.run("scontrol", "ping");
        if (result.isEmpty()) {
            throw new UndeterminedException(
                    "scontrol is missing", "apt-get install slurm-client, or dnf install slurm");
        }
        return result.get()
                .out()
                .lines()
                .filter(line -> line.strip().endsWith(" UP"))
                .findFirst()
                .map(line -> PreflightFinding.ok(this, line.strip()))
                .orElseGet(() -> PreflightFinding.failure(
                        this,
                        "no controller answers: " + SlurmClientCheck.firstErrorLine(result.get()),
                        "systemctl start slurmctld on the controller, or set SLURM_CONF"));
    }
}
