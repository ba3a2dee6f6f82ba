package org.cloister.preflight;

import java.util.List;
import java.util.regex.Pattern;

/**
 * How a relay submits to Global Slurm.
 *
 * @param user the service account
 * @param accounts of the projects that the site has approved
 */
public record RelaySlurm(String user, String partition, List<String> accounts) {
    public static final String DEFAULT_USER = "cloister-relay";
    public static final String DEFAULT_PARTITION = "secure";

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.][A-Za-z0-9_.-]{0,63}");

    /** @throws IllegalArgumentException if a name could be anything but one; the text says which */
    public RelaySlurm {
        accounts = accounts.stream().distinct().toList();
        require("user", user);
        require("partition", partition);
        accounts.forEach(account -> require("account", account));
    }

    private static void require(String what, String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(what + ": want a name as Slurm has it, have '" + name + "'");
        }
    }
}
