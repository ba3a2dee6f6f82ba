package org.cloister.ctl.systemd;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.process.ProcessRunner;
import org.cloister.ctl.key.Passphrase;

/**
 * Encrypted credential of systemd: a secret of a unit in a file that this machine alone can decrypt; systemd-creds(1).
 *
 * @param name of the credential, which is encrypted with it
 */
public record SystemdCredential(String name, Path file) {
    /** A TPM takes seconds. */
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** Encrypts a secret and replaces the file. A line end is added, of which each reader removes one. */
    public void replace(Passphrase secret, ProcessRunner programs) throws IOException {
        byte[] line = Arrays.copyOf(secret.bytes(), secret.bytes().length + 1);
        line[line.length - 1] = '\n';
        try {
            ProcessRunner.Output output = programs.runWithSecret(
                    line, List.of("systemd-creds", "encrypt", "--name=" + name, "-", "-"), LIMIT);
            if (output.exit() != 0 || output.out().isBlank()) {
                throw new IOException("systemd-creds: cannot encrypt " + name + ": " + output.errorSummary()
                        + "; it needs systemd 250 or newer, and root");
            }
            AtomicFile.replace(file, output.out().getBytes(StandardCharsets.UTF_8));
        } catch (ProcessRunner.NotStarted e) {
            throw new IOException(
                    "systemd-creds: cannot be started; install systemd 250 or newer, or run agentctl site serve in a "
                            + "terminal",
                    e);
        } finally {
            Arrays.fill(line, (byte) 0);
        }
    }
}
