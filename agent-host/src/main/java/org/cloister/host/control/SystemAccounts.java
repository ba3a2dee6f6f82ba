package org.cloister.host.control;

import com.sun.jna.Pointer;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Users and groups of the system, resolved through nsswitch.conf. */
final class SystemAccounts {
    /** Offset of the numeric id in struct passwd and struct group: it follows two pointers. */
    private static final int NUMBER_AT = 2 * Long.BYTES;

    private SystemAccounts() {}

    /**
     * Returns a user's number.
     *
     * @throws IOException if there is no such user
     */
    static synchronized int user(String name) throws IOException {
        return number("user", name, SocketLibC.getpwnam(name));
    }

    /**
     * Returns a group's number.
     *
     * @throws IOException if there is no such group
     */
    static synchronized int group(String name) throws IOException {
        return number("group", name, SocketLibC.getgrnam(name));
    }

    private static int number(String kind, String name, @Nullable Pointer entry) throws IOException {
        if (entry == null) {
            throw new IOException(kind + " " + name + " does not exist on this host; create it (the packages do),"
                    + " or name another in agent-host.toml");
        }
        return entry.getInt(NUMBER_AT);
    }
}
