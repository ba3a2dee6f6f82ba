package org.cloister.preflight;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Settings with which a relay submits to Global Slurm.
 *
 * @param user the service account
 * @param partition for tickets
 * @param controllers the partition for controlling VMs; empty for a relay that accepts no openings
 * @param accounts of the projects that the site has approved
 */
public record RelaySlurmSettings(String user, String partition, Optional<String> controllers, List<String> accounts) {
    public static final String DEFAULT_USER = "cloister-relay";
    public static final String DEFAULT_PARTITION = "secure";

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.][A-Za-z0-9_.-]{0,63}");

    /**
     * Checks the names.
     *
     * @throws IllegalArgumentException if one is not a name as Slurm accepts it; the message names it
     */
    public RelaySlurmSettings {
        accounts = accounts.stream().distinct().toList();
        require("user", user);
        require("partition", partition);
        controllers.ifPresent(name -> require("controllers", name));
        accounts.forEach(account -> require("account", account));
    }

    private static void require(String what, String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(what + ": want a name as Slurm has it, have '" + name + "'");
        }
    }
}
