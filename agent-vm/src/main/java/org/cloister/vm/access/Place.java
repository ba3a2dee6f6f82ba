package org.cloister.vm.access;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.cloister.vm.machine.Programs;

/**
 * Where sessions run.
 *
 * @param hostKey of this start
 * @param folder on tmpfs, one in it for each session; logins may pass through it
 * @param scripts where the packages lay {@code member-session} and {@code export-session}
 * @param homes the folder of the members' homes
 */
public record Place(Programs programs, HostKey hostKey, Path folder, Path scripts, Path homes) {
    /**
     * Makes a host key and the folder.
     *
     * @param keys a folder on tmpfs that root alone reads
     */
    public static Place make(Programs programs, Path keys, Path folder, Path scripts, Path homes) throws IOException {
        HostKey key = HostKey.make(programs, keys);
        Files.createDirectories(folder);
        // Whatever umask there is.
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx--x--x"));
        return new Place(programs, key, folder, scripts, homes);
    }
}
