package org.cloister.preflight;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.ProgramResult;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * State of a partition as Slurm reports it.
 *
 * @param finding why nothing can be submitted to it; empty if submission is possible
 */
record SlurmPartitionState(SlurmConfigOutput text, Optional<PreflightFinding> finding) {
    /**
     * Queries a partition.
     *
     * @param option with which another partition can be named
     * @param user who submits
     */
    static SlurmPartitionState of(
            PreflightCheck check, InspectedMachine machine, String partition, String option, String user)
            throws UndeterminedException {
        ProgramResult output = SlurmConfigOutput.run(machine, "scontrol", "show", "partition", partition);
        SlurmConfigOutput text = new SlurmConfigOutput(output.out());
        if (!output.succeeded()) {
            if (!(output.out() + output.err()).contains("not found")) {
                throw new UndeterminedException(SlurmClientCheck.firstErrorLine(output), "scontrol ping");
            }
            return new SlurmPartitionState(
                    text,
                    Optional.of(PreflightFinding.failure(
                            check,
                            "Slurm has no partition " + partition,
                            "add PartitionName=" + partition + " to slurm.conf and run scontrol reconfigure, or give "
                                    + option)));
        }
        return new SlurmPartitionState(text, closed(check, machine, partition, text, user));
    }

    private static Optional<PreflightFinding> closed(
            PreflightCheck check, InspectedMachine machine, String partition, SlurmConfigOutput text, String user)
            throws UndeterminedException {
        if (!text.value("State").equals("UP")) {
            return Optional.of(PreflightFinding.failure(
                    check,
                    partition + " is " + text.value("State"),
                    "scontrol update PartitionName=" + partition + " State=UP"));
        }
        String groups = text.value("AllowGroups");
        if (groups.equals("ALL")) {
            return Optional.empty();
        }
        List<String> own = List.of(
                SlurmConfigOutput.of(machine, "id", "-Gn", user).text().strip().split(" ", -1));
        if (Arrays.stream(groups.split(",", -1)).anyMatch(own::contains)) {
            return Optional.empty();
        }
        return Optional.of(PreflightFinding.failure(
                check,
                partition + " is open to groups " + groups + ", and " + user + " is in none of them",
                "on slurmctld's machine usermod -aG " + groups.split(",", 2)[0] + " " + user));
    }
}
