package org.cloister.vm.controller.ssh;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.cloister.base.process.ProcessRunner;
import org.cloister.protocol.access.SshPublicKey;

/**
 * sshd's host key for the VM's life, in a file on tmpfs that only root reads. People receive its public key on their
 * circuits.
 */
public record SshHostKey(Path file, SshPublicKey key) {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    /**
     * Creates a new key.
     *
     * @param folder on tmpfs; created if absent
     */
    public static SshHostKey generate(ProcessRunner programs, Path folder) throws IOException {
        Files.createDirectories(
                folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Path file = folder.resolve("host_key");
        Path publicFile = folder.resolve("host_key.pub");
        Files.deleteIfExists(file);
        Files.deleteIfExists(publicFile);
        ProcessRunner.Output output = programs.run(
                "",
                List.of("ssh-keygen", "-q", "-t", "ecdsa", "-b", "384", "-N", "", "-C", "", "-f", file.toString()),
                LIMIT);
        if (output.exit() != 0) {
            throw new IOException("ssh-keygen: " + output.errorSummary());
        }
        return new SshHostKey(
                file,
                SshPublicKey.parse(
                        Files.readString(publicFile, StandardCharsets.US_ASCII).strip()));
    }
}
