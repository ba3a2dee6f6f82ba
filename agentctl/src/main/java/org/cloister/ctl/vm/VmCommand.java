package org.cloister.ctl.vm;

import org.cloister.ctl.CommandRoot;
import org.cloister.preflight.machine.InspectedMachine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code agentctl vm}: commands in a project's VMs, for all of their users. */
@Command(
        name = "vm",
        description = "Shows, in a project's VM, its boot phases and volumes, and in its controlling VM why jobs wait.",
        subcommands = {VmWhyCommand.class, VmStatusCommand.class, VmPhasesCommand.class, VmVolumesCommand.class})
public final class VmCommand implements Runnable {
    @ParentCommand
    @SuppressWarnings("NullAway.Init") // picocli sets these before run
    private CommandRoot root;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    InspectedMachine machine() {
        return root.machine();
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "missing command");
    }
}
