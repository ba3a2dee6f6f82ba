package org.cloister.vm.controller.ssh;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.cloister.base.process.ProcessRunner;

/**
 * Environment of sessions.
 *
 * @param hostKey of this start
 * @param folder on tmpfs, with a folder for each session; logins may traverse it
 * @param scripts folder of the packages' {@code member-session} and {@code export-session}
 * @param homes folder of the members' homes
 */
public record SessionEnvironment(ProcessRunner programs, SshHostKey hostKey, Path folder, Path scripts, Path homes) {
    /**
     * Creates a host key and the folder.
     *
     * @param keys folder on tmpfs that only root reads
     */
    public static SessionEnvironment create(ProcessRunner programs, Path keys, Path folder, Path scripts, Path homes)
            throws IOException {
        SshHostKey key = SshHostKey.generate(programs, keys);
        Files.createDirectories(folder);
        // Independent of the umask.
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx--x--x"));
        return new SessionEnvironment(programs, key, folder, scripts, homes);
    }
}
