package org.cloister.ctl.relay;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.Pem;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.identity.RevocationList;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code agentctl relay deliver}: delivers documents that the site or a project's owners signed to the relay. */
@Command(
        name = "deliver",
        description = "Delivers projects' documents, approvals and revocation lists to the relay, in "
                + "the given order. The relay accepts what an authorized key has signed and is "
                + "newer than its own; a revocation takes effect at once.")
final class RelayDeliverCommand implements Callable<Integer> {
    @Parameters(paramLabel = "FILE", arity = "1..*", description = "A genesis, successor, approval or revocation list.")
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private List<Path> files;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private RelaySocket socket;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        KeyValueOutput facts = new KeyValueOutput();
        for (Path file : files) {
            byte[] content = Pem.readBounded(file, RevocationList.MAX_BYTES);
            try {
                facts.with(file.toString(), socket.deliver(content));
            } catch (IOException e) {
                throw new IOException(file + ": " + e.getMessage(), e);
            }
        }
        output.print(facts);
        return ExitCode.OK.code();
    }
}
