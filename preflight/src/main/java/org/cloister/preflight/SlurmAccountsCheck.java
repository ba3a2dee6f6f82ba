package org.cloister.preflight;

import java.util.ArrayList;
import java.util.List;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.ProgramResult;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks that the service account may charge each project's account; its remedy is the commands that add the missing
 * items.
 */
record SlurmAccountsCheck(RelaySlurmSettings slurm) implements PreflightCheck {
    @Override
    public String name() {
        return "slurm-accounts";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        SlurmConfigOutput config = SlurmConfigOutput.of(machine, "scontrol", "show", "config");
        if (!config.value("AccountingStorageType").equals("accounting_storage/slurmdbd")) {
            return PreflightFinding.ok(
                    this, "the site has no accounting: Slurm checks no account, and keeps no ended job");
        }
        if (slurm.accounts().isEmpty()) {
            throw new UndeterminedException("no account is named", "agentctl doctor --role relay --account NAME");
        }
        List<String> problems = new ArrayList<>();
        List<String> remedies = new ArrayList<>();
        SlurmConfigOutput partition = SlurmConfigOutput.of(machine, "scontrol", "show", "partition", slurm.partition());
        for (String account : slurm.accounts()) {
            int before = problems.size();
            association(machine, account, config.value("ClusterName"), problems, remedies);
            partition(partition, account, problems, remedies);
            if (problems.size() == before) {
                submission(machine, account, problems, remedies);
            }
        }
        if (problems.isEmpty()) {
            return PreflightFinding.ok(this, slurm.user() + " may charge " + String.join(", ", slurm.accounts()));
        }
        boolean enforced = config.value("AccountingStorageEnforce").contains("associations");
        return PreflightFinding.of(
                this,
                enforced ? FindingSeverity.FAILURE : FindingSeverity.WARNING,
                String.join("; ", problems) + (enforced ? "" : "; Slurm takes such jobs and charges them to nobody"),
                String.join("; ", remedies));
    }

    private void association(
            InspectedMachine machine, String account, String cluster, List<String> problems, List<String> remedies)
            throws UndeterminedException {
        if (SlurmConfigOutput.of(machine, "sacctmgr", "-n", "-P", "show", "account", account, "format=Account")
                .isEmpty()) {
            problems.add("no account " + account);
            remedies.add("sacctmgr -i add account " + account + " cluster=" + cluster);
        }
        SlurmConfigOutput own = SlurmConfigOutput.of(
                machine,
                "sacctmgr",
                "-n",
                "-P",
                "show",
                "associations",
                "cluster=" + cluster,
                "account=" + account,
                "user=" + slurm.user(),
                "format=Partition");
        // An association without a partition applies to all, and is an empty line.
        boolean holds = own.text().lines().anyMatch(line -> line.isEmpty() || line.equals(slurm.partition()));
        if (!holds) {
            problems.add(slurm.user() + " has no association with account " + account);
            remedies.add("sacctmgr -i add user " + slurm.user() + " account=" + account + " cluster=" + cluster);
        }
    }

    private void partition(SlurmConfigOutput partition, String account, List<String> problems, List<String> remedies) {
        String update = "scontrol update PartitionName=" + slurm.partition() + " ";
        String also = ", and the same in slurm.conf";
        if (!partition.allows("AllowAccounts", account)) {
            problems.add(slurm.partition() + " is closed to account " + account + " by AllowAccounts");
            remedies.add(update + "AllowAccounts=" + partition.value("AllowAccounts") + "," + account + also);
        }
        // Shown only where AllowAccounts is not.
        if (!partition.value("DenyAccounts").isEmpty() && partition.allows("DenyAccounts", account)) {
            problems.add(slurm.partition() + " is closed to account " + account + " by DenyAccounts");
            remedies.add("remove " + account + " from DenyAccounts of " + slurm.partition() + " in slurm.conf");
        }
    }

    /** Tests a submission with slurmctld itself and all its limits; nothing is enqueued. */
    private void submission(InspectedMachine machine, String account, List<String> problems, List<String> remedies)
            throws UndeterminedException {
        String[] arguments = {
            "sbatch",
            "--test-only",
            "--wrap=true",
            "--uid=" + slurm.user(),
            "--account=" + account,
            "--partition=" + slurm.partition(),
            "--nodes=1",
            "--time=1",
            "--mem=1",
            "--chdir=/"
        };
        ProgramResult tested = SlurmConfigOutput.run(machine, arguments);
        if (!tested.succeeded()) {
            String error = SlurmClientCheck.firstErrorLine(tested);
            if (error.contains("Unable to contact")
                    || error.contains("Socket timed out")
                    || error.contains("permitted to use --uid")) {
                throw new UndeterminedException(error, "run agentctl as root where scontrol ping answers");
            }
            problems.add(account + ": " + error);
            remedies.add("run " + String.join(" ", arguments) + " and read its output");
        }
    }
}
