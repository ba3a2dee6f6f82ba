package org.cloister.host.domain;

import java.nio.file.Path;
import java.util.regex.Pattern;

/** Which files a domain may name. */
final class DomainPaths {
    /** What no part between here and QEMU's own options takes for something else. */
    private static final Pattern FORM = Pattern.compile("/[A-Za-z0-9_.+~@:/-]{1,1023}");
    /** Of a Unix socket, with the byte that ends it 108. */
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
