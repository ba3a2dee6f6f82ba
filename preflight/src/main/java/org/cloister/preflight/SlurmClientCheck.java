package org.cloister.preflight;

import java.util.List;
import java.util.Optional;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.ProgramResult;
import org.cloister.preflight.machine.UndeterminedException;

/** Checks Slurm's commands. They report their version only where they find a configuration. */
record SlurmClientCheck() implements PreflightCheck {
    private static final MajorMinorVersion OLDEST = new MajorMinorVersion(22, 5);

    @Override
    public String name() {
        return "slurm-client";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        for (String program : List.of("sinfo", "scontrol", "srun")) {
            if (machine.find(program).isEmpty()) {
                return PreflightFinding.failure(
                        this, program + " is missing", "apt-get install slurm-client, or dnf install slurm");
            }
        }
        Optional<ProgramResult> asked = machine.run("sinfo", "--version");
        Optional<MajorMinorVersion> version =
                asked.filter(ProgramResult::succeeded).flatMap(ran -> MajorMinorVersion.parseFirst(ran.out()));
        if (version.isEmpty()) {
            String said = asked.map(SlurmClientCheck::firstErrorLine).orElse("sinfo has gone");
            return PreflightFinding.failure(this, said, "put slurm.conf into /etc/slurm, or set SLURM_CONF");
        }
        return version.get().compareTo(OLDEST) < 0
                ? PreflightFinding.failure(
                        this, asked.get().firstOutputLine() + " is older than 22.05", "install a newer Slurm")
                : PreflightFinding.ok(this, asked.get().firstOutputLine());
    }

    /** Returns the last error: the line with the final cause comes after all that led to it. */
    static String firstErrorLine(ProgramResult slurm) {
        return slurm.err()
                .lines()
                .filter(line -> line.contains("fatal:") || line.contains("error:"))
                .reduce((first, last) -> last)
                .orElseGet(slurm::firstErrorLine);
    }
}
