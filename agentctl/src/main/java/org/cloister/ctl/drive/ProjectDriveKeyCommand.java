package org.cloister.ctl.drive;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.Pem;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.luks.key.SealingKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code agentctl project drive-key}: creates an opener's key to drives, or a recovery key for a safe. */
@Command(
        name = "drive-key",
        description = "Makes a key that opens a project's drives, under a passphrase or as a recovery "
                + "key to print, and writes its public half.")
@SuppressWarnings("NullAway.Init") // picocli sets the fields before call
public final class ProjectDriveKeyCommand implements Callable<Integer> {
    @ArgGroup(multiplicity = "1")
    private PrivateKeyDestination kept;

    @Option(names = "--out", paramLabel = "FILE", required = true, description = "File for the public half, in PEM.")
    private Path out;

    @Option(
            names = SigningKeyOptions.SECRET_FD,
            paramLabel = "NUMBER",
            description = "Read the passphrase from this file descriptor; asked at the terminal by default.")
    private @Nullable Integer descriptor;

    @Mixin
    private OutputOption output;

    /** Options for where the private key is written. */
    private static final class PrivateKeyDestination {
        @Option(
                names = "--key",
                required = true,
                paramLabel = "FILE",
                description = "A new file for the private key, under a passphrase.")
        private @Nullable Path file;

        @Option(
                names = "--recovery-fd",
                required = true,
                paramLabel = "NUMBER",
                description = "Make a recovery key instead, and write its text to this file descriptor. Print "
                        + "it and keep it in a safe.")
        private int recovery;
    }

    @Override
    public Integer call() throws IOException {
        DriveKeyMemory vault = DriveKeyMemory.open();
        try (SealingKey key = vault.hpke().generate()) {
            Path file = kept.file;
            if (file == null) {
                NewDriveKey.print(vault, key, kept.recovery);
            } else {
                NewDriveKey.write(vault, key, file, descriptor, SigningKeyOptions.SECRET_FD);
            }
            VerificationKey verification = SealingKeyEncoding.toVerificationKey(key.publicKey());
            AtomicFile.create(out, Pem.write(Pem.PUBLIC_KEY, verification.encoded()));
            output.print(new KeyValueOutput().with("key", verification).with("public", out));
        }
        return ExitCode.OK.code();
    }
}
