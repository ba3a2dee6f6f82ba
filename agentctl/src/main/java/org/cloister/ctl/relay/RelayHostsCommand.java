package org.cloister.ctl.relay;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.output.TextTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code agentctl relay hosts}: prints the linked hosts, since when they are linked, and the names they serve. */
@Command(name = "hosts", description = "Prints the linked hosts and the names that they serve.")
final class RelayHostsCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private RelaySocket socket;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    private record Hosts(ObjectNode document) implements CommandOutput {
        @Override
        public TextTable table() {
            TextTable table = new TextTable();
            for (JsonNode host : document.path("hosts")) {
                List<String> serves = new ArrayList<>();
                host.path("serves").forEach(name -> serves.add(name.asText()));
                table.row(
                        host.path("name").asText(),
                        (host.path("attached").asBoolean() ? "attached for " : "not attached for ")
                                + host.path("seconds").asText() + " s",
                        host.path("software").asText(),
                        serves.isEmpty() ? "serves nobody" : "serves " + String.join(", ", serves));
            }
            return table;
        }
    }

    @Override
    public Integer call() throws IOException {
        output.print(new Hosts(socket.ask("/hosts")));
        return ExitCode.OK.code();
    }
}
