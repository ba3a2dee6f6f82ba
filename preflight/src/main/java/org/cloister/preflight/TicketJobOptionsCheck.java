package org.cloister.preflight;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.ProgramResult;
import org.cloister.preflight.machine.UndeterminedException;
import org.cloister.slurm.TicketJobOptions;

/**
 * Checks that a program of Slurm knows the options of a ticket's job, which it parses here without submitting.
 *
 * @param options arguments of a run that ends before it does anything
 */
record TicketJobOptionsCheck(String name, String program, List<String> options) implements PreflightCheck {
    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        List<String> argv = new ArrayList<>(List.of(program));
        argv.addAll(options);
        Optional<ProgramResult> result = machine.run(argv);
        if (result.isEmpty()) {
            return PreflightFinding.failure(
                    this, program + " is missing", "apt-get install slurm-client, or dnf install slurm");
        }
        Optional<String> unknown = TicketJobOptions.unknownOption(result.get().err());
        if (unknown.isPresent()) {
            return PreflightFinding.failure(
                    this,
                    unknown.get() + "; each ticket would fail",
                    "install a Slurm that docs/compatibility.md names");
        }
        if (!result.get().succeeded()) {
            throw new UndeterminedException(
                    SlurmClientCheck.firstErrorLine(result.get()), "put slurm.conf into /etc/slurm, or set SLURM_CONF");
        }
        return PreflightFinding.ok(this, program + " knows the options of a ticket's job");
    }
}
