package org.cloister.ctl;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.output.TextTable;
import org.cloister.preflight.machine.InspectedMachine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParentCommand;

/** {@code agentctl version}: prints the versions of agentctl and of its Java runtime. */
@Command(name = "version", description = "Prints the version of agentctl and of the Java it runs on.")
final class VersionCommand implements Runnable {
    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before run
    private OutputOption output;

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private CommandRoot root;

    /**
     * Versions to print.
     *
     * @param javaHome folder of the runtime
     */
    private record Versions(String agentctl, String java, String javaHome) implements CommandOutput {
        @Override
        public TextTable table() {
            return new TextTable().row("agentctl " + agentctl).row("java " + java + " (" + javaHome + ")");
        }

        @Override
        public ObjectNode document() {
            return JsonNodeFactory.instance
                    .objectNode()
                    .put("agentctl", agentctl)
                    .put("java", java)
                    .put("javaHome", javaHome);
        }
    }

    @Override
    public void run() {
        InspectedMachine machine = root.machine();
        Versions versions = new Versions(
                BuildVersion.current(),
                machine.property("java.version").orElse("unknown"),
                machine.property("java.home").orElse("unknown"));
        output.print(versions);
    }
}
