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

/** {@code agentctl host status}: prints whether this host accepts work, and what it lacks. */
@Command(
        name = "status",
        description =
                "Prints whether this host takes tickets, what it works with and what it runs; exits 2 when it takes none.")
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
                            "takes work",
                            acceptsWork()
                                    ? "yes"
                                    : "no: " + document.path("why_not").asText());
            for (JsonNode part : document.path("parts")) {
                String there = part.path("there").asBoolean() ? "there" : "away";
                String text = part.path("text").asText();
                table.row(part.path("name").asText(), text.isEmpty() ? there : there + ": " + text);
            }
            for (String count : new String[] {"starting", "running", "ending"}) {
                table.row(count, document.path(count).asText());
            }
            document.path("strays").forEach(each -> table.row("stray", each.asText()));
            document.path("troubles").forEach(each -> table.row("trouble", each.asText()));
            table.row(
                    "looked",
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
