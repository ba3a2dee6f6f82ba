package org.cloister.ctl.project;

import org.cloister.ctl.circuit.CircuitCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code agentctl project}: on a person's own device. */
@Command(
        name = "project",
        description = "Works with a project, on the device of one of its people.",
        subcommands = {CircuitCommand.class})
public final class ProjectCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before run
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "missing command");
    }
}
