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
import picocli.CommandLine.Parameters;

/** {@code agentctl host render}: prints the domain, the ports and the flows of a VM. */
@Command(
        name = "render",
        description =
                "Prints the domain's XML, the bridge's ports and the flows of a VM, exactly as they would be applied.")
final class HostRenderCommand implements Callable<Integer> {
    @Parameters(
            paramLabel = "TICKET|VM",
            converter = VmNameOption.class,
            description = "A ticket's id, a VM's name as in agentctl host vms, or its UUID.")
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private String what;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private HostSocket socket;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    private record RenderOutput(ObjectNode document) implements CommandOutput {
        @Override
        public TextTable table() {
            TextTable table = new TextTable();
            document.path("xml").asText().lines().forEach(table::row);
            for (JsonNode port : document.path("ports")) {
                table.row("port: " + port.asText());
            }
            for (JsonNode flow : document.path("flows")) {
                table.row("flow: " + flow.asText());
            }
            return table;
        }
    }

    @Override
    public Integer call() throws IOException {
        output.print(new RenderOutput(socket.ask(HostSocket.request("render").put("what", what))));
        return ExitCode.OK.code();
    }
}
