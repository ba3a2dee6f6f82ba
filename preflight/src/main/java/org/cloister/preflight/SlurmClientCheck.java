package org.cloister.preflight;

import java.util.List;
import java.util.Optional;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.ProgramResult;
import org.cloister.preflight.machine.UndeterminedException;

/** Checks Slurm's commands. They report their version only where they find a configuration. */
record SlurmClientCheck() implements PreflightCheck {
    private static final MajorMinorVersion OLDEST = new MajorMinorVersion(22, 5);
    /** docs/compatibility.md has the same. */
    private static final MajorMinorVersion NEWEST_KNOWN = new MajorMinorVersion(26, 5);

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
        Optional<ProgramResult> result = machine.run("sinfo", "--version");
        Optional<MajorMinorVersion> version =
                result.filter(ProgramResult::succeeded).flatMap(output -> MajorMinorVersion.parseFirst(output.out()));
        if (version.isEmpty()) {
            String error = result.map(SlurmClientCheck::firstErrorLine).orElse("sinfo has gone");
            return PreflightFinding.failure(this, error, "put slurm.conf into /etc/slurm, or set SLURM_CONF");
        }
        String have = result.get().firstOutputLine();
        if (version.get().compareTo(OLDEST) < 0) {
            return PreflightFinding.failure(this, have + " is older than 22.05", "install a newer Slurm");
        }
        return version.get().compareTo(NEWEST_KNOWN) > 0
                ? PreflightFinding.warning(
                        this,
                        have + " is newer than 26.05, the newest that is known to work",
                        "submit a job of a test project before you use it, or see whether a newer Cloister knows it")
                : PreflightFinding.ok(this, have);
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
