package org.cloister.host.control;

import com.sun.jna.Pointer;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The system's users and groups, by whatever nsswitch.conf names. */
final class SystemAccounts {
    /** In struct passwd and struct group the number follows two pointers. */
    private static final int NUMBER_AT = 2 * Long.BYTES;

    private SystemAccounts() {}

    /** @throws IOException if there is no such user */
    static synchronized int user(String name) throws IOException {
        return number("user", name, SocketLibC.getpwnam(name));
    }

    /** @throws IOException if there is no such group */
    static synchronized int group(String name) throws IOException {
        return number("group", name, SocketLibC.getgrnam(name));
    }

    private static int number(String kind, String name, @Nullable Pointer entry) throws IOException {
        if (entry == null) {
            throw new IOException(kind + " " + name + ": want it on this host, have none of that name; make it (the"
                    + " packages do), or name another in agent-host.toml");
        }
        return entry.getInt(NUMBER_AT);
    }
}
