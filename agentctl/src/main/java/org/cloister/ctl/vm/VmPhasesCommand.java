package org.cloister.ctl.vm;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.output.TextTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParentCommand;

/** {@code agentctl vm phases}: prints the phases that this VM reached, with their times. */
@Command(
        name = "phases",
        description = "Prints the phases that this VM has reached, each with the seconds from the "
                + "kernel's start until the VM last reached it.")
final class VmPhasesCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private VmCommand vm;

    private record Phases(BootReport report) implements CommandOutput {
        @Override
        public TextTable table() {
            TextTable table = new TextTable();
            report.reached().forEach((phase, seconds) -> table.row(phase, seconds + " s"));
            return table;
        }

        @Override
        public ObjectNode document() {
            ObjectNode document = JsonNodeFactory.instance.objectNode();
            ArrayNode phases = document.putArray("phases");
            report.reached()
                    .forEach((phase, seconds) ->
                            phases.addObject().put("phase", phase).put("seconds", seconds));
            return document;
        }
    }

    @Override
    public Integer call() throws IOException {
        output.print(new Phases(BootReport.read(vm.machine())));
        return ExitCode.OK.code();
    }
}
