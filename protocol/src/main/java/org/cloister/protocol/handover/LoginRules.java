package org.cloister.protocol.handover;

import java.util.Set;
import java.util.regex.Pattern;

/** What members of a project are called on its machines, and which numbers they have: none of the system's. */
public final class LoginRules {
    public static final Pattern FORM = Pattern.compile("[a-z][a-z0-9_-]{0,30}");
    /** Below are the system's own; root above all. */
    public static final int LEAST_ID = 1000;
    /** systemd gives those from here on away, and nobody is 65534. */
    public static final int MOST_ID = 60_000;

    /** That daemons here or hereafter run as. */
    private static final Set<String> SYSTEM = Set.of(
            "root",
            "nobody",
            "nogroup",
            "daemon",
            "bin",
            "sys",
            "adm",
            "mail",
            "man",
            "sync",
            "games",
            "sshd",
            "munge",
            "slurm",
            "mysql",
            "messagebus",
            "systemd",
            "operator",
            "halt",
            "shutdown",
            "wheel",
            "sudo",
            "cloister");

    private LoginRules() {}

    public static boolean isSystem(String login) {
        return SYSTEM.contains(login) || login.startsWith("systemd-") || login.startsWith("cloister-");
    }
}
