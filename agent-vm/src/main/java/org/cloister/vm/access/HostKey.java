package org.cloister.vm.access;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.cloister.protocol.access.SshKey;
import org.cloister.vm.machine.Programs;

/** sshd's key for as long as the VM lives, a file on tmpfs that root alone reads. Persons hear of it in their circuits. */
public record HostKey(Path file, SshKey key) {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    /**
     * Makes a new one.
     *
     * @param folder on tmpfs; made if it is not there
     */
    public static HostKey make(Programs programs, Path folder) throws IOException {
        Files.createDirectories(
                folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Path file = folder.resolve("host_key");
        Path shown = folder.resolve("host_key.pub");
        Files.deleteIfExists(file);
        Files.deleteIfExists(shown);
        Programs.Output made = programs.run(
                "",
                List.of("ssh-keygen", "-q", "-t", "ecdsa", "-b", "384", "-N", "", "-C", "", "-f", file.toString()),
                LIMIT);
        if (made.exit() != 0) {
            throw new IOException("ssh-keygen: " + made.complaint());
        }
        return new HostKey(
                file,
                SshKey.parse(Files.readString(shown, StandardCharsets.US_ASCII).strip()));
    }
}
