package org.cloister.ctl.bridge;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.output.TextTable;
import org.cloister.ovs.FrameTrace;
import org.cloister.preflight.machine.ProgramResult;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** {@code agentctl bridge trace}: simulates how the bridge handles a frame. */
@Command(name = "trace", description = "Explains why the bridge would pass or drop a frame.")
final class BridgeTraceCommand implements Callable<Integer> {
    @ParentCommand
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private BridgeCommand parent;

    @Parameters(
            paramLabel = "FRAME",
            description = "The frame in the syntax of ovs-appctl ofproto/trace, such as "
                    + "in_port=cl-1,icmp,dl_src=...,dl_dst=...,nw_src=...,nw_dst=....")
    @SuppressWarnings("NullAway.Init")
    private String frame;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private BridgeOptions bridge;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    private record Steps(FrameTrace trace) implements CommandOutput {
        @Override
        public TextTable table() {
            TextTable table = new TextTable();
            trace.steps().forEach(table::row);
            return table;
        }

        @Override
        public ObjectNode document() {
            ObjectNode document = JsonNodeFactory.instance.objectNode().put("passes", trace.passes());
            var steps = document.putArray("steps");
            trace.steps().forEach(steps::add);
            return document;
        }
    }

    @Override
    public Integer call() throws IOException {
        String name = bridge.config().bridge();
        ProgramResult result = parent.root()
                .machine()
                .run(
                        "env",
                        "OVS_RUNDIR=" + bridge.runDirectory(),
                        "ovs-appctl",
                        "--timeout=5",
                        "ofproto/trace",
                        name,
                        frame)
                .orElseThrow(() -> new IOException("ovs-appctl: not on this machine; install openvswitch-switch"));
        if (!result.requirePermitted().succeeded()) {
            throw new IOException("ofproto/trace of " + frame + ": " + result.firstErrorLine());
        }
        output.print(new Steps(FrameTrace.of(result.out())));
        return ExitCode.OK.code();
    }
}
