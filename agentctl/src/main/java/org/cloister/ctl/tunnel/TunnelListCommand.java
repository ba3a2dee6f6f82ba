package org.cloister.ctl.tunnel;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.output.TextTable;
import org.cloister.ctl.tunnel.TunnelOptions.GuardState;
import org.cloister.ipsec.IkeSa;
import org.cloister.ipsec.TunnelExplanation;
import org.cloister.ipsec.TunnelView;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code agentctl tunnel list}: prints each tunnel's state, time and traffic, and why it is not up. */
@Command(
        name = "list",
        description = "Prints the tunnels with their traffic, and the tunnel guard; exits with 2 if one "
                + "is down or unguarded.")
final class TunnelListCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private TunnelOptions tunnels;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    private record TunnelRow(
            TunnelView.Loaded tunnel, TunnelExplanation state, long sinceS, long bytesIn, long bytesOut) {
        static TunnelRow of(TunnelView view, TunnelView.Loaded tunnel, GuardState guard) {
            long since = 0;
            long in = 0;
            long out = 0;
            for (IkeSa sa : view.of(tunnel.name())) {
                since = Math.max(since, sa.establishedS());
                in += sa.children().stream().mapToLong(IkeSa.ChildSa::bytesIn).sum();
                out += sa.children().stream().mapToLong(IkeSa.ChildSa::bytesOut).sum();
            }
            String wrong = guard.inPlace() ? null : guard.text();
            return new TunnelRow(tunnel, view.explain(tunnel.name(), wrong, Instant.now()), since, in, out);
        }
    }

    private record TunnelsOutput(List<TunnelRow> rows, GuardState guard) implements CommandOutput {
        boolean isHealthy() {
            return guard.inPlace() && rows.stream().allMatch(row -> row.state.up());
        }

        @Override
        public TextTable table() {
            TextTable table = new TextTable();
            for (TunnelRow row : rows) {
                String state = row.state.up()
                        ? "up for " + TunnelExplanation.words(Duration.ofSeconds(row.sinceS))
                        : "down: " + row.state.why();
                table.row(
                        row.tunnel.name(),
                        row.tunnel.peer(),
                        row.tunnel.remote(),
                        row.bytesIn + " bytes in",
                        row.bytesOut + " out",
                        state);
            }
            return table.row("guard", guard.text());
        }

        @Override
        public ObjectNode document() {
            ObjectNode document = JsonNodeFactory.instance.objectNode();
            var tunnels = document.putArray("tunnels");
            for (TunnelRow row : rows) {
                tunnels.addObject()
                        .put("name", row.tunnel.name())
                        .put("peer", row.tunnel.peer())
                        .put("address", row.tunnel.remote())
                        .put("up", row.state.up())
                        .put("seconds", row.sinceS)
                        .put("bytes_in", row.bytesIn)
                        .put("bytes_out", row.bytesOut)
                        .put("why", row.state.why())
                        .put("remedy", row.state.remedy());
            }
            document.putObject("guard").put("in_place", guard.inPlace()).put("words", guard.text());
            return document;
        }
    }

    @Override
    public Integer call() throws IOException {
        TunnelView view = TunnelView.read(tunnels.socket(), Duration.ZERO);
        GuardState guard = GuardState.read();
        List<TunnelRow> rows = new ArrayList<>();
        new TreeMap<>(view.loaded()).values().forEach(tunnel -> rows.add(TunnelRow.of(view, tunnel, guard)));
        TunnelsOutput answer = new TunnelsOutput(rows, guard);
        output.print(answer);
        return (answer.isHealthy() ? ExitCode.OK : ExitCode.FAILURE).code();
    }
}
