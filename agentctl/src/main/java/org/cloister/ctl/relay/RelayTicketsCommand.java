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

/** {@code agentctl relay tickets}: prints open tickets, and those that ended within a day. */
@Command(
        name = "tickets",
        description = "Prints the tickets that are open and those that ended within the last 24 hours, openings among "
                + "them: account, state, resources, controlling VM or workers, Global job, nodes.")
final class RelayTicketsCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private RelaySocket socket;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    private record Tickets(ObjectNode document) implements CommandOutput {
        @Override
        public TextTable table() {
            TextTable table = new TextTable();
            for (JsonNode ticket : document.path("tickets")) {
                List<String> nodes = new ArrayList<>();
                ticket.path("node_names").forEach(name -> nodes.add(name.asText()));
                String end = ticket.has("end") ? ": " + ticket.path("end").asText() : "";
                String note = ticket.path("withdrawn").asBoolean() && end.isEmpty() ? ", withdrawn" : "";
                table.row(
                        ticket.path("ticket").asText(),
                        ticket.path("account").asText(),
                        ticket.path("state").asText() + end + note,
                        ticket.path("nodes").asText() + " nodes, "
                                + ticket.path("cpus").asText() + " CPUs, "
                                + ticket.path("memory_mib").asText() + " MiB",
                        ticket.has("drive") ? "controlling VM" : "workers",
                        ticket.has("job") ? "job " + ticket.path("job").asText() : "no job",
                        nodes.isEmpty() ? "no nodes" : String.join(",", nodes),
                        ticket.path("seconds").asText() + " s ago");
            }
            return table;
        }
    }

    @Override
    public Integer call() throws IOException {
        output.print(new Tickets(socket.ask("/tickets")));
        return ExitCode.OK.code();
    }
}
