package org.cloister.vm.controller.ssh;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.cloister.base.process.ProcessRunner;

/**
 * Where sessions run.
 *
 * @param hostKey of this start
 * @param folder on tmpfs, one in it for each session; logins may pass through it
 * @param scripts where the packages lay {@code member-session} and {@code export-session}
 * @param homes the folder of the members' homes
 */
public record SessionEnvironment(ProcessRunner programs, SshHostKey hostKey, Path folder, Path scripts, Path homes) {
    /**
     * Makes a host key and the folder.
     *
     * @param keys a folder on tmpfs that root alone reads
     */
    public static SessionEnvironment create(ProcessRunner programs, Path keys, Path folder, Path scripts, Path homes)
            throws IOException {
        SshHostKey key = SshHostKey.generate(programs, keys);
        Files.createDirectories(folder);
        // Whatever umask there is.
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx--x--x"));
        return new SessionEnvironment(programs, key, folder, scripts, homes);
    }
}
