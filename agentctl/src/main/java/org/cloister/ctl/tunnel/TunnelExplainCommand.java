package org.cloister.ctl.tunnel;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.output.TextTable;
import org.cloister.ctl.tunnel.TunnelOptions.GuardState;
import org.cloister.ipsec.TunnelExplanation;
import org.cloister.ipsec.TunnelView;
import org.cloister.ipsec.vici.IpsecException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code agentctl tunnel explain}: explains why one tunnel is not up, and prints the remedy. */
@Command(name = "explain", description = "Explains why a tunnel is down; exits with 2 if it is.")
final class TunnelExplainCommand implements Callable<Integer> {
    @Parameters(paramLabel = "TUNNEL", description = "The tunnel's name, as agentctl tunnel list prints it.")
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private String name;

    @Option(
            names = "--listen",
            paramLabel = "SECONDS",
            defaultValue = "3",
            description =
                    "Seconds to listen to charon's messages about the tunnel, 0 to 60; default: ${DEFAULT-VALUE}.")
    private int listen;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private TunnelOptions tunnels;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    private record ExplanationOutput(String name, TunnelExplanation explanation) implements CommandOutput {
        @Override
        public TextTable table() {
            TextTable table = new TextTable().row(name + ": " + explanation.why());
            return explanation.remedy().isEmpty() ? table : table.row("to do: " + explanation.remedy());
        }

        @Override
        public ObjectNode document() {
            return JsonNodeFactory.instance
                    .objectNode()
                    .put("name", name)
                    .put("up", explanation.up())
                    .put("why", explanation.why())
                    .put("remedy", explanation.remedy());
        }
    }

    @Override
    public Integer call() throws IOException {
        if (listen < 0 || listen > 60) {
            throw new ParameterException(spec.commandLine(), "--listen: want 0 to 60 seconds, have " + listen);
        }
        TunnelExplanation explanation = explain();
        output.print(new ExplanationOutput(name, explanation));
        return (explanation.up() ? ExitCode.OK : ExitCode.FAILURE).code();
    }

    private TunnelExplanation explain() {
        try {
            GuardState guard = GuardState.read();
            TunnelView view = TunnelView.read(tunnels.socket(), Duration.ofSeconds(listen));
            return view.explain(name, guard.inPlace() ? null : guard.text(), Instant.now());
        } catch (IpsecException e) {
            return TunnelExplanation.of(new TunnelExplanation.Facts(
                    name, String.valueOf(e.getMessage()), null, false, null, List.of(), null, Instant.now()));
        }
    }
}
