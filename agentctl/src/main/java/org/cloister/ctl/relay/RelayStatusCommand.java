package org.cloister.ctl.relay;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.output.TextTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code agentctl relay status}: prints whether the relay serves, and how much. */
@Command(name = "status", description = "Prints what the relay serves; exits with 2 if it accepts nothing new.")
final class RelayStatusCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private RelaySocket socket;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    private record Status(ObjectNode document) implements CommandOutput {
        @Override
        public TextTable table() {
            TextTable table = new TextTable()
                    .row("relay", document.path("relay").asText())
                    .row("state", document.path("ready").asBoolean() ? "ready" : "draining")
                    .row("desk", document.path("desk").asBoolean() ? "attached" : "none");
            for (String count : new String[] {
                "links",
                "attached",
                "circuits",
                "circuits_opened",
                "circuits_refused",
                "circuit_bytes",
                "projects",
                "revocation_lists"
            }) {
                table.row(count.replace('_', ' '), document.path(count).asText());
            }
            return table;
        }
    }

    @Override
    public Integer call() throws IOException {
        ObjectNode status = socket.ask("/status");
        output.print(new Status(status));
        return (status.path("ready").asBoolean() ? ExitCode.OK : ExitCode.FAILURE).code();
    }
}
