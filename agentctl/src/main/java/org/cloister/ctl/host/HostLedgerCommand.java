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

/** {@code agentctl host ledger}: prints the host's write-ahead record of its VMs. */
@Command(
        name = "ledger",
        description = "Prints the host's VM ledger: the step that each VM started last, and why a VM is "
                + "stopping. An entry is deleted when nothing of its VM is left.")
final class HostLedgerCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private HostSocket socket;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    private record Entries(ObjectNode document) implements CommandOutput {
        @Override
        public TextTable table() {
            TextTable table = new TextTable();
            for (JsonNode entry : document.path("entries")) {
                table.row(
                        entry.path("vm").asText(),
                        entry.path("uuid").asText(),
                        "job " + entry.path("job").asText(),
                        entry.path("step").asText(),
                        "claimed " + entry.path("claimed").asText(),
                        entry.has("end") ? endText(entry.path("end")) : "goes on");
            }
            return table;
        }

        private static String endText(JsonNode end) {
            String at = end.path("at").asText();
            return "ends: " + end.path("why").asText() + (at.isEmpty() ? "" : " at " + at) + ", "
                    + end.path("time").asText();
        }
    }

    @Override
    public Integer call() throws IOException {
        output.print(new Entries(socket.ask("ledger")));
        return ExitCode.OK.code();
    }
}
