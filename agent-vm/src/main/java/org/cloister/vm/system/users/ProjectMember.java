package org.cloister.vm.system.users;

import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.protocol.handover.LoginRules;

/**
 * A person who may log in and submit jobs, as the project identifies them. Their identity elsewhere has no meaning
 * here.
 *
 * @param person ID in the certificate names of the person who uses this login; if empty, no person can log in
 */
public record ProjectMember(String login, int uid, int gid, Optional<String> person) {
    private static final Pattern PERSON = Pattern.compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?");

    /** Creates a member whose jobs run and who does not log in. */
    public ProjectMember(String login, int uid, int gid) {
        this(login, uid, gid, Optional.empty());
    }

    /**
     * Checks all fields.
     *
     * @throws IllegalArgumentException if such a member may not run jobs
     */
    public ProjectMember {
        if (person.isPresent() && !PERSON.matcher(person.get()).matches()) {
            throw new IllegalArgumentException("person of " + login + ": want the ID of the person's names, " + PERSON
                    + ", have \"" + person.get() + "\"");
        }
        if (!LoginRules.FORM.matcher(login).matches()) {
            throw new IllegalArgumentException(
                    "login: want a lower-case letter, and up to 30 letters, digits, _ or -, have \"" + login + "\"");
        }
        requireId("uid", login, uid);
        requireId("gid", login, gid);
    }

    private static void requireId(String key, String login, int id) {
        if (id < LoginRules.LEAST_ID || id > LoginRules.MOST_ID) {
            throw new IllegalArgumentException(key + " of " + login + ": want " + LoginRules.LEAST_ID + " to "
                    + LoginRules.MOST_ID + ", have " + id);
        }
    }
}
