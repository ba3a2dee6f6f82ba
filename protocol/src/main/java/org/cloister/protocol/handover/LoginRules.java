package org.cloister.protocol.handover;

import java.util.Set;
import java.util.regex.Pattern;

/** Rules for the logins and Unix ids of a project's members on its machines: none may be the system's. */
public final class LoginRules {
    public static final Pattern FORM = Pattern.compile("[a-z][a-z0-9_-]{0,30}");
    /** Lowest id of a member; the system's own ids, and root, are below. */
    public static final int LEAST_ID = 1000;
    /** Highest id of a member; systemd allocates the ids above, and 65534 is nobody. */
    public static final int MOST_ID = 60_000;

    /** Accounts that daemons run as, now or in later releases. */
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
