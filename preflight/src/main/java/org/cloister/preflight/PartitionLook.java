package org.cloister.preflight;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.Ran;
import org.cloister.preflight.machine.UnknownException;

/**
 * What Slurm says of a partition.
 *
 * @param finding why nothing can be submitted to it; empty if something can
 */
record PartitionLook(SlurmText text, Optional<Finding> finding) {
    /**
     * @param option by which another partition can be named
     * @param user who submits
     */
    static PartitionLook of(Check check, Machine machine, String partition, String option, String user)
            throws UnknownException {
        Ran shown = SlurmText.ran(machine, "scontrol", "show", "partition", partition);
        SlurmText text = new SlurmText(shown.out());
        if (!shown.succeeded()) {
            if (!(shown.out() + shown.err()).contains("not found")) {
                throw new UnknownException(SlurmClient.complaint(shown), "scontrol ping");
            }
            return new PartitionLook(
                    text,
                    Optional.of(Finding.failure(
                            check,
                            "Slurm has no partition " + partition,
                            "add PartitionName=" + partition + " to slurm.conf and run scontrol reconfigure, or say "
                                    + option)));
        }
        return new PartitionLook(text, closed(check, machine, partition, text, user));
    }

    private static Optional<Finding> closed(Check check, Machine machine, String partition, SlurmText text, String user)
            throws UnknownException {
        if (!text.value("State").equals("UP")) {
            return Optional.of(Finding.failure(
                    check,
                    partition + " is " + text.value("State"),
                    "scontrol update PartitionName=" + partition + " State=UP"));
        }
        String groups = text.value("AllowGroups");
        if (groups.equals("ALL")) {
            return Optional.empty();
        }
        List<String> own =
                List.of(SlurmText.of(machine, "id", "-Gn", user).text().strip().split(" ", -1));
        if (Arrays.stream(groups.split(",", -1)).anyMatch(own::contains)) {
            return Optional.empty();
        }
        return Optional.of(Finding.failure(
                check,
                partition + " is open to groups " + groups + ", and " + user + " is in none of them",
                "on slurmctld's machine usermod -aG " + groups.split(",", 2)[0] + " " + user));
    }
}
