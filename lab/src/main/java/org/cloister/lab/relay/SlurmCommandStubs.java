package org.cloister.lab.relay;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Slurm's commands as shell scripts for one bench: each job runs on the node {@code n1} from its submission until it is
 * cancelled, and there is no accounting. So no figure includes the time of Slurm itself.
 */
public final class SlurmCommandStubs {
    private SlurmCommandStubs() {}

    /** @return the folder of the programs */
    public static Path in(Path folder) throws IOException {
        Path programs = Files.createDirectories(folder.resolve("slurm"));
        Path jobs = Files.createDirectories(folder.resolve("jobs"));
        program(programs, "sbatch", """
                while read -r line; do :; done
                for each; do case "$each" in --job-name=*) name=${each#*=};; esac; done
                echo "$name" >"%s/$$"
                echo $$
                """.formatted(jobs));
        program(programs, "squeue", """
                cd "%s"
                for job in *; do
                  [ -f "$job" ] && read -r name <"$job" || continue
                  printf '%%-24s|%%-32s|%%-64s|%%-256s|%%-64s|\\n' "$job" RUNNING None n1 "$name"
                done
                """.formatted(jobs));
        program(programs, "scancel", "rm -f \"%s/$1\"\n".formatted(jobs));
        program(programs, "sacct", "exit 1\n");
        program(programs, "scontrol", """
                case "$2" in
                hostnames) echo "$3";;
                config) echo 'AccountingStorageType   = accounting_storage/none';;
                job) read -r name <"%s/$4" || exit 1
                  echo "JobId=$4 JobName=$name"
                  echo '   NumNodes=1 NumCPUs=1 NumTasks=1'
                  echo '     Nodes=n1 CPU_IDs=0 Mem=1024 GRES='
                  echo '   MinCPUsNode=1';;
                esac
                """.formatted(jobs));
        return programs;
    }

    private static void program(Path folder, String name, String body) throws IOException {
        Path file = Files.writeString(folder.resolve(name), "#!/bin/sh\n" + body);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
