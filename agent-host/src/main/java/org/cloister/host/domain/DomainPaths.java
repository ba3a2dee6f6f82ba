package org.cloister.host.domain;

import java.nio.file.Path;
import java.util.regex.Pattern;

/** Checks the file paths that a domain may name. */
final class DomainPaths {
    /** Characters that no layer between here and QEMU's options interprets. */
    private static final Pattern FORM = Pattern.compile("/[A-Za-z0-9_.+~@:/-]{1,1023}");
    /** Longest path of a Unix socket: 108 bytes including the terminating byte. */
    private static final int MAX_SOCKET = 107;

    private DomainPaths() {}

    static void require(String what, Path path) {
        if (!FORM.matcher(path.toString()).matches() || !path.equals(path.normalize())) {
            throw new IllegalArgumentException(
                    what + ": want an absolute path of " + FORM + " without .., have " + path);
        }
    }

    static void requireSocket(String what, Path path) {
        require(what, path);
        if (path.toString().length() > MAX_SOCKET) {
            throw new IllegalArgumentException(what + ": want a path of at most " + MAX_SOCKET + " characters, have "
                    + path.toString().length() + ": " + path + "; choose a shorter state folder");
        }
    }
}
