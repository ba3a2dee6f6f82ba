package org.cloister.preflight;

import java.util.Arrays;
import java.util.List;
import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.Ran;
import org.cloister.preflight.machine.UnknownException;

/** The partition that tickets go to: there, up, and open to the service account. */
record SlurmPartition(RelaySlurm slurm) implements Check {
    @Override
    public String name() {
        return "slurm-partition";
    }

    @Override
    public Finding run(Machine machine) throws UnknownException {
        String partition = slurm.partition();
        Ran shown = SlurmText.ran(machine, "scontrol", "show", "partition", partition);
        if (!shown.succeeded()) {
            if (!(shown.out() + shown.err()).contains("not found")) {
                throw new UnknownException(SlurmClient.complaint(shown), "scontrol ping");
            }
            return Finding.failure(
                    this,
                    "Slurm has no partition " + partition,
                    "add PartitionName=" + partition
                            + " to slurm.conf and run scontrol reconfigure, or say --partition");
        }
        SlurmText text = new SlurmText(shown.out());
        if (!text.value("State").equals("UP")) {
            return Finding.failure(
                    this,
                    partition + " is " + text.value("State"),
                    "scontrol update PartitionName=" + partition + " State=UP");
        }
        String groups = text.value("AllowGroups");
        if (!groups.equals("ALL")) {
            List<String> own = List.of(SlurmText.of(machine, "id", "-Gn", slurm.user())
                    .text()
                    .strip()
                    .split(" ", -1));
            if (Arrays.stream(groups.split(",", -1)).noneMatch(own::contains)) {
                return Finding.failure(
                        this,
                        partition + " is open to groups " + groups + ", and " + slurm.user() + " is in none of them",
                        "on slurmctld's machine usermod -aG " + groups.split(",", 2)[0] + " " + slurm.user());
            }
        }
        return Finding.ok(this, partition + " is UP");
    }
}
