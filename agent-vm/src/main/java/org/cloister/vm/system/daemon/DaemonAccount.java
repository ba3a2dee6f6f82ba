package org.cloister.vm.system.daemon;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Account of a daemon in the image.
 *
 * @param name such as {@code munge}
 */
public record DaemonAccount(String name, int uid, int gid) {
    private static final int FIELDS = 7;

    /**
     * Reads the account of that name.
     *
     * @param passwd the machine's
     * @throws IOException if no account has that name
     */
    public static DaemonAccount of(Path passwd, String name) throws IOException {
        for (String line : Files.readAllLines(passwd, StandardCharsets.ISO_8859_1)) {
            String[] fields = line.split(":", -1);
            if (fields.length == FIELDS && fields[0].equals(name)) {
                try {
                    return new DaemonAccount(name, Integer.parseInt(fields[2]), Integer.parseInt(fields[3]));
                } catch (NumberFormatException e) {
                    throw new IOException(passwd + ": " + name + ": want numbers, have others", e);
                }
            }
        }
        throw new IOException(passwd + ": there is no account " + name + "; the daemon's package creates it");
    }
}
