package org.cloister.preflight;

import java.util.List;
import java.util.Optional;
import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.Ran;
import org.cloister.preflight.machine.UnknownException;

/** Slurm's commands. They tell their version only where they find a configuration. */
record SlurmClient() implements Check {
    private static final Version OLDEST = new Version(22, 5);

    @Override
    public String name() {
        return "slurm-client";
    }

    @Override
    public Finding run(Machine machine) throws UnknownException {
        for (String program : List.of("sinfo", "scontrol", "srun")) {
            if (machine.find(program).isEmpty()) {
                return Finding.failure(
                        this, program + " is missing", "apt-get install slurm-client, or dnf install slurm");
            }
        }
        Optional<Ran> asked = machine.run("sinfo", "--version");
        Optional<Version> version = asked.filter(Ran::succeeded).flatMap(ran -> Version.in(ran.out()));
        if (version.isEmpty()) {
            String said = asked.map(SlurmClient::complaint).orElse("sinfo has gone");
            return Finding.failure(this, said, "put slurm.conf into /etc/slurm, or set SLURM_CONF");
        }
        return version.get().compareTo(OLDEST) < 0
                ? Finding.failure(this, asked.get().answer() + " is older than 22.05", "install a newer Slurm")
                : Finding.ok(this, asked.get().answer());
    }

    /** The line that ended it comes after all that led there. */
    static String complaint(Ran slurm) {
        return slurm.err()
                .lines()
                .filter(line -> line.contains("fatal:") || line.contains("error:"))
                .reduce((first, last) -> last)
                .orElseGet(slurm::complaint);
    }
}
