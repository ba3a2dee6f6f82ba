package org.cloister.vm.users;

import java.util.regex.Pattern;

/** Who may log in and submit, as the project knows them. Its identity elsewhere counts for nothing here. */
public record Member(String login, int uid, int gid) {
    /** Below are the system's own; root above all. */
    static final int LEAST_ID = 1000;
    /** systemd gives those from here on away, and nobody is 65534. */
    static final int MOST_ID = 60_000;

    static final Pattern LOGIN = Pattern.compile("[a-z][a-z0-9_-]{0,30}");

    /** @throws IllegalArgumentException if it is none that may run jobs */
    public Member {
        if (!LOGIN.matcher(login).matches()) {
            throw new IllegalArgumentException(
                    "login: want a lower-case letter, and up to 30 letters, digits, _ or -, have \"" + login + "\"");
        }
        requireId("uid", login, uid);
        requireId("gid", login, gid);
    }

    private static void requireId(String key, String login, int id) {
        if (id < LEAST_ID || id > MOST_ID) {
            throw new IllegalArgumentException(
                    key + " of " + login + ": want " + LEAST_ID + " to " + MOST_ID + ", have " + id);
        }
    }
}
