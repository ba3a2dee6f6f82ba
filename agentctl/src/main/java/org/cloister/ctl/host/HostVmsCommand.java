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

/** {@code agentctl host vms}: prints the VMs of this host. */
@Command(name = "vms", description = "Prints the VMs of this host with their projects, phases and resources.")
final class HostVmsCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private HostSocket socket;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    private record Vms(ObjectNode document) implements CommandOutput {
        @Override
        public TextTable table() {
            TextTable table = new TextTable();
            for (JsonNode vm : document.path("vms")) {
                String end = vm.has("end") ? ": " + vm.path("end").asText() : "";
                table.row(
                        vm.path("vm").asText(),
                        vm.path("state").asText() + end,
                        "job " + vm.path("job").asText(),
                        vm.path("cpus").asText() + " CPUs, "
                                + vm.path("memory_mib").asText() + " MiB",
                        "VLAN " + vm.path("vlan").asText() + ", "
                                + vm.path("address").asText(),
                        "since " + vm.path("since").asText());
            }
            return table;
        }
    }

    @Override
    public Integer call() throws IOException {
        output.print(new Vms(socket.ask("vms")));
        return ExitCode.OK.code();
    }
}
