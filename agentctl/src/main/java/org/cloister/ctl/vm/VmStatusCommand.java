package org.cloister.ctl.vm;

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

/** {@code agentctl vm status}: prints this VM's present phase. */
@Command(name = "status", description = "Prints the phase of this VM, and the ids of its boot keys.")
final class VmStatusCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private VmCommand vm;

    private record Status(BootReport report) implements CommandOutput {
        @Override
        public TextTable table() {
            TextTable table = new TextTable();
            table.row("phase", report.phase());
            table.row("since", report.reached().get(report.phase()) + " s after the kernel's start");
            report.keys().forEach(table::row);
            return table;
        }

        @Override
        public ObjectNode document() {
            ObjectNode document = JsonNodeFactory.instance.objectNode().put("phase", report.phase());
            document.put("since_seconds", report.reached().get(report.phase()));
            report.keys().forEach(document::put);
            return document;
        }
    }

    @Override
    public Integer call() throws IOException {
        output.print(new Status(BootReport.read(vm.machine())));
        return ExitCode.OK.code();
    }
}
