package org.cloister.ctl.bridge;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.output.TextTable;
import org.cloister.ovs.BridgeView;
import org.cloister.ovs.PortPlan;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code agentctl bridge show}: prints the ports and their plans. */
@Command(
        name = "show",
        description = "Prints the bridge's ports with their purposes, and how many frames were dropped "
                + "for which reason.")
final class BridgeShowCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private BridgeOptions bridge;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    private record Ports(BridgeView view) implements CommandOutput {
        @Override
        public TextTable table() {
            TextTable table = new TextTable();
            for (BridgeView.Port port : view.ports()) {
                PortPlan plan = port.plan();
                String state = port.number() == null ? "no device: " + port.error() : "number " + port.number();
                table.row(
                        plan.device(),
                        "VLAN " + plan.vlan(),
                        plan.self().toString(),
                        plan.job(),
                        plan.peers().size() + " peers",
                        plan.owner(),
                        state);
            }
            view.others().forEach(device -> table.row(device, "not made by agent-host: all its frames are dropped"));
            view.dropped().forEach((reason, frames) -> table.row("dropped " + reason.label(), Long.toString(frames)));
            return table;
        }

        @Override
        public ObjectNode document() {
            ObjectNode document = JsonNodeFactory.instance.objectNode();
            var ports = document.putArray("ports");
            for (BridgeView.Port port : view.ports()) {
                PortPlan plan = port.plan();
                ObjectNode each = ports.addObject();
                each.put("device", plan.device()).put("vlan", plan.vlan());
                each.put("station", plan.self().toString()).put("job", plan.job());
                each.put("role", plan.role().name()).put("owner", plan.owner());
                each.put("number", port.number()).put("error", port.error());
                var peers = each.putArray("peers");
                plan.peers().forEach(peer -> peers.add(peer.toString()));
            }
            var others = document.putArray("others");
            view.others().forEach(others::add);
            ObjectNode dropped = document.putObject("dropped");
            view.dropped().forEach((reason, frames) -> dropped.put(reason.label(), frames));
            return document;
        }
    }

    @Override
    public Integer call() throws IOException {
        output.print(new Ports(BridgeView.read(bridge.config())));
        return ExitCode.OK.code();
    }
}
