package org.cloister.ctl.relay;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code agentctl relay drain}: stops the acceptance of new tickets before maintenance. */
@Command(
        name = "drain",
        description = "Makes the relay accept no new tickets; those that it has accepted continue. The "
                + "relay stays drained when it is restarted, until --undo.")
final class RelayDrainCommand implements Callable<Integer> {
    @Option(names = "--undo", description = "Accept new tickets again.")
    private boolean undo;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private RelaySocket socket;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        String answer = socket.post(undo ? "/undrain" : "/drain", new byte[0]);
        output.print(new KeyValueOutput().with("relay", answer));
        return ExitCode.OK.code();
    }
}
