package org.cloister.ctl.bridge;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.output.TextTable;
import org.cloister.ovs.BridgeDifference;
import org.cloister.ovs.BridgeView;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code agentctl bridge check}: compares the switch with the plans of its ports, in both directions. */
@Command(
        name = "check",
        description = "Compares the bridge's settings and flows with the plans of its ports; exits with "
                + "2 if they differ.")
final class BridgeCheckCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private BridgeOptions bridge;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    private record Differences(List<BridgeDifference> differences, int ports) implements CommandOutput {
        @Override
        public TextTable table() {
            TextTable table = new TextTable();
            differences.forEach(each -> table.row(each.toString()));
            return differences.isEmpty() ? table.row(ports + " ports, no differences") : table;
        }

        @Override
        public ObjectNode document() {
            ObjectNode document = JsonNodeFactory.instance.objectNode().put("ports", ports);
            var list = document.putArray("differences");
            differences.forEach(each -> list.addObject()
                    .put("subject", each.subject())
                    .put("should", each.should())
                    .put("has", each.has()));
            return document;
        }
    }

    @Override
    public Integer call() throws IOException {
        BridgeView view = BridgeView.read(bridge.config());
        output.print(new Differences(view.differences(), view.ports().size()));
        return (view.differences().isEmpty() ? ExitCode.OK : ExitCode.FAILURE).code();
    }
}
