package org.cloister.vm.controller.members;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.cloister.slurm.SlurmCommand;
import org.cloister.slurm.SlurmRefusedException;
import org.cloister.slurm.SlurmUnavailableException;
import org.cloister.vm.system.users.ProjectMember;
import org.cloister.vm.system.users.ProjectMembers;

/**
 * Adds the records to slurmdbd that a member needs to submit jobs: the cluster, its one account of the same name, and
 * each member in it. Existing entries are not changed and keep the limits that an administrator set.
 */
public final class SlurmAssociations {
    /** Answers of sacctmgr for an entry that is there: 22.05's, and those of 24.11 and newer. */
    private static final Pattern ALREADY_THERE =
            Pattern.compile("Nothing (new )?added|already exists|Already existing");

    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_-]{0,39}");
    /** Fits into one command line with a wide margin. */
    private static final int USERS_PER_COMMAND = 200;

    private final SlurmCommand slurm;
    private final String cluster;

    /** @throws IllegalArgumentException if sacctmgr would not accept the name as one word */
    public SlurmAssociations(SlurmCommand slurm, String cluster) {
        if (!NAME.matcher(cluster).matches()) {
            throw new IllegalArgumentException("cluster: want " + NAME + ", have \"" + cluster + "\"");
        }
        this.slurm = slurm;
        this.cluster = cluster;
    }

    /**
     * Adds what is missing. May be called again, however the last call ended. Members must have their names before:
     * slurmctld looks up a user's number when it learns of one and when it starts, and otherwise once an hour.
     */
    public void add(ProjectMembers members) throws IOException {
        if (!lines("list", "cluster", "format=cluster").contains(cluster)) {
            add("cluster", cluster);
        }
        Set<String> known = lines("list", "associations", "cluster=" + cluster, "format=account,user");
        if (!known.contains(cluster + "|")) {
            add("account", cluster, "cluster=" + cluster, "description=project", "organization=project");
        }
        List<String> missing = new ArrayList<>();
        for (ProjectMember member : members.list()) {
            if (!known.contains(cluster + "|" + member.login())) {
                missing.add(member.login());
            }
        }
        for (int i = 0; i < missing.size(); i += USERS_PER_COMMAND) {
            List<String> some = missing.subList(i, Math.min(i + USERS_PER_COMMAND, missing.size()));
            add("user", String.join(",", some), "account=" + cluster, "cluster=" + cluster);
        }
    }

    private Set<String> lines(String... command) throws SlurmUnavailableException {
        List<String> arguments = new ArrayList<>(List.of("-n", "-P"));
        arguments.addAll(List.of(command));
        return new HashSet<>(
                slurm.succeed("sacctmgr", arguments).lines().map(String::strip).toList());
    }

    private void add(String what, String name, String... options)
            throws SlurmUnavailableException, SlurmRefusedException {
        List<String> arguments = new ArrayList<>(List.of("-i", "add", what, name));
        arguments.addAll(List.of(options));
        SlurmCommand.Output output = slurm.run("sacctmgr", arguments, "");
        // It was added by another process in between.
        if (output.exit() != 0 && !isAlreadyThere(output.out() + output.err())) {
            throw new SlurmRefusedException("sacctmgr add " + what + " " + name + ": " + output.complaint());
        }
    }

    /** Returns whether sacctmgr, which exits with 1 then, did not add an entry because it exists. */
    public static boolean isAlreadyThere(String output) {
        return ALREADY_THERE.matcher(output).find();
    }
}
