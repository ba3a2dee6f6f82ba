package org.cloister.ctl.host;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.output.TextTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code agentctl host status}: prints whether this host accepts work, and the reasons if not. */
@Command(
        name = "status",
        description = "Prints whether this host accepts tickets, whether each part that it needs is "
                + "available, and how many VMs it runs; exits with 2 if it accepts none.")
final class HostStatusCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private HostSocket socket;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    private record Status(ObjectNode document) implements CommandOutput {
        boolean acceptsWork() {
            return document.path("takes_work").asBoolean();
        }

        @Override
        public TextTable table() {
            TextTable table = new TextTable()
                    .row("host", document.path("host").asText())
                    .row(
                            "accepts work",
                            acceptsWork()
                                    ? "yes"
                                    : "no: " + document.path("why_not").asText());
            for (JsonNode part : document.path("parts")) {
                String state = part.path("there").asBoolean() ? "available" : "missing";
                String text = part.path("text").asText();
                table.row(part.path("name").asText(), text.isEmpty() ? state : state + ": " + text);
            }
            for (String count : new String[] {"starting", "running", "ending"}) {
                table.row(count, document.path(count).asText());
            }
            document.path("strays").forEach(each -> table.row("orphan", each.asText()));
            document.path("troubles").forEach(each -> table.row("failure", each.asText()));
            table.row(
                    "last check",
                    document.has("looked_seconds")
                            ? document.path("looked_seconds").asText() + " s ago"
                            : "not yet");
            return table;
        }
    }

    @Override
    public Integer call() throws IOException {
        Status status = new Status(socket.ask("status"));
        output.print(status);
        return (status.acceptsWork() ? ExitCode.OK : ExitCode.FAILURE).code();
    }
}
