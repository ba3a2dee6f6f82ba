package org.cloister.ctl.project;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.Pem;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code agentctl project key}: creates a person's key. */
@Command(
        name = "key",
        description = "Makes a person's private key, encrypted under a passphrase in the file of --key, "
                + "or uses a key on a token, and writes its public half.")
final class ProjectKeyCommand implements Callable<Integer> {
    @Option(names = "--out", paramLabel = "FILE", required = true, description = "File for the public half, in PEM.")
    @SuppressWarnings("NullAway.Init")
    private Path out;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SigningKeyOptions keys;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        SigningKey key = keys.isOnToken() ? keys.open() : keys.create(null, SignatureCurve.P384);
        AtomicFile.create(out, Pem.write(Pem.PUBLIC_KEY, key.verificationKey().encoded()));
        output.print(new KeyValueOutput().with("key", key.verificationKey()).with("public", out));
        return ExitCode.OK.code();
    }
}
