package org.cloister.preflight;

import java.util.Optional;
import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.Ran;
import org.cloister.preflight.machine.UnknownException;

/** Whether a slurmctld of the cluster answers; a backup does as well as the primary one. */
record SlurmController() implements Check {
    @Override
    public String name() {
        return "slurm-controller";
    }

    @Override
    public Finding run(Machine machine) throws UnknownException {
        Optional<Ran> asked = machine.run("scontrol", "ping");
        if (asked.isEmpty()) {
            throw new UnknownException("scontrol is missing", "apt-get install slurm-client, or dnf install slurm");
        }
        return asked.get()
                .out()
                .lines()
                .filter(line -> line.strip().endsWith(" UP"))
                .findFirst()
                .map(line -> Finding.ok(this, line.strip()))
                .orElseGet(() -> Finding.failure(
                        this,
                        "no controller answers: " + SlurmClient.complaint(asked.get()),
                        "systemctl start slurmctld on the controller, or set SLURM_CONF"));
    }
}
