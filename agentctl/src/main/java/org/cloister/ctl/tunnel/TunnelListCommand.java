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
import org.cloister.ctl.output.Answer;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.output.Table;
import org.cloister.ctl.tunnel.TunnelOptions.GuardState;
import org.cloister.ipsec.Explanation;
import org.cloister.ipsec.Sa;
import org.cloister.ipsec.TunnelView;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code agentctl tunnel list}: each tunnel, since when, how much went through, and why it is not up. */
@Command(
        name = "list",
        description =
                "Prints the tunnels with what went through them, and the guard; exits 2 when one is down or unguarded.")
final class TunnelListCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private TunnelOptions tunnels;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    private record Row(TunnelView.Loaded tunnel, Explanation state, long sinceS, long bytesIn, long bytesOut) {
        static Row of(TunnelView view, TunnelView.Loaded tunnel, GuardState guard) {
            long since = 0;
            long in = 0;
            long out = 0;
            for (Sa sa : view.of(tunnel.name())) {
                since = Math.max(since, sa.establishedS());
                in += sa.children().stream().mapToLong(Sa.Child::bytesIn).sum();
                out += sa.children().stream().mapToLong(Sa.Child::bytesOut).sum();
            }
            String wrong = guard.inPlace() ? null : guard.words();
            return new Row(tunnel, view.explain(tunnel.name(), wrong, Instant.now()), since, in, out);
        }
    }

    private record Rows(List<Row> rows, GuardState guard) implements Answer {
        boolean isWell() {
            return guard.inPlace() && rows.stream().allMatch(row -> row.state.up());
        }

        @Override
        public Table table() {
            Table table = new Table();
            for (Row row : rows) {
                String state = row.state.up()
                        ? "up for " + Explanation.words(Duration.ofSeconds(row.sinceS))
                        : "down: " + row.state.why();
                table.row(
                        row.tunnel.name(),
                        row.tunnel.peer(),
                        row.tunnel.remote(),
                        row.bytesIn + " bytes in",
                        row.bytesOut + " out",
                        state);
            }
            return table.row("guard", guard.words());
        }

        @Override
        public ObjectNode document() {
            ObjectNode document = JsonNodeFactory.instance.objectNode();
            var tunnels = document.putArray("tunnels");
            for (Row row : rows) {
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
            document.putObject("guard").put("in_place", guard.inPlace()).put("words", guard.words());
            return document;
        }
    }

    @Override
    public Integer call() throws IOException {
        TunnelView view = TunnelView.read(tunnels.socket(), Duration.ZERO);
        GuardState guard = GuardState.read();
        List<Row> rows = new ArrayList<>();
        new TreeMap<>(view.loaded()).values().forEach(tunnel -> rows.add(Row.of(view, tunnel, guard)));
        Rows answer = new Rows(rows, guard);
        output.print(answer);
        return (answer.isWell() ? ExitCode.OK : ExitCode.FAILURE).code();
    }
}
