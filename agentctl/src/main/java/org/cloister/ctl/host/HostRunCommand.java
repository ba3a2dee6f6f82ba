package org.cloister.ctl.host;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.output.TextTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code agentctl host run}: the job step that a ticket's global job runs on each of its nodes. */
@Command(
        name = "run",
        description = "Starts the VM of a ticket for the job step that calls it, and waits until the VM "
                + "has ended. SIGTERM stops the VM.",
        exitCodeList = {
            "3:The VM was stopped, by its job or by an operator.",
            "4:agent-host refused the ticket or the caller.",
            "5:agent-host, or what it needs, did not answer; try again.",
            "6:The VM itself failed: it crashed, or its guest never answered.",
            "7:This host failed."
        })
final class HostRunCommand implements Callable<Integer> {
    private static final Pattern TICKET = Pattern.compile("[a-z2-7]{26}");

    @Parameters(paramLabel = "TICKET", description = "The ticket's id, which is its Global job's name.")
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private String ticket;

    @Option(
            names = "--patience",
            paramLabel = "SECONDS",
            defaultValue = "30",
            description = "How long to retry until agent-host has started the VM; default: ${DEFAULT-VALUE}.")
    private int timeoutS;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private HostSocket socket;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    private record JobStepOutput(List<JsonNode> phases, VmExit end) implements CommandOutput {
        @Override
        public TextTable table() {
            TextTable table = new TextTable();
            for (JsonNode phase : phases) {
                table.row(phase.path("name").asText(), phase.path("ms").asText() + " ms");
            }
            return table.row("end", end.code().name().toLowerCase(Locale.ROOT) + ": " + end.text());
        }

        @Override
        public ObjectNode document() {
            ObjectNode document = JsonNodeFactory.instance.objectNode();
            ArrayNode list = document.putArray("phases");
            phases.forEach(list::add);
            ObjectNode node = document.putObject("end")
                    .put("code", end.code().name().toLowerCase(Locale.ROOT))
                    .put("text", end.text());
            if (!end.phase().isEmpty()) {
                node.put("phase", end.phase());
            }
            if (!end.hint().isEmpty()) {
                node.put("hint", end.hint());
            }
            return document;
        }
    }

    @Override
    public Integer call() throws InterruptedException {
        if (!TICKET.matcher(ticket).matches()) {
            throw new ParameterException(
                    spec.commandLine(), "ticket: want 26 characters of base32 in lower case, have " + ticket);
        }
        List<JsonNode> phases = new ArrayList<>();
        VmWaiter wait =
                new VmWaiter(socket, ticket, Duration.ofSeconds(timeoutS), phases::add, text -> print("warning", text));
        try (StopHook hook = StopHook.install(wait::stop)) {
            VmExit end = wait.await();
            output.print(new JobStepOutput(phases, end));
            if (end.code() != VmExit.Code.DONE) {
                String phase = end.phase().isEmpty() ? "" : " (" + end.phase() + ")";
                print("error", "ticket " + ticket + phase + ": " + end.text());
            }
            if (!end.hint().isEmpty()) {
                print("hint", end.hint());
            }
            hook.setExitStatus(end.code().status());
            return end.code().status();
        }
    }

    private void print(String kind, String text) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("agentctl: " + kind + ": " + TextTable.escapeControls(text));
        err.flush();
    }
}
