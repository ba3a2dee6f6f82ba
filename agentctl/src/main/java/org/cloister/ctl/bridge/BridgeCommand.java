package org.cloister.ctl.bridge;

import org.cloister.ctl.CommandRoot;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code agentctl bridge}: shows and checks a host's bridge as Open vSwitch has it. */
@Command(
        name = "bridge",
        description = "Shows and checks a compute host's bridge; changes nothing.",
        subcommands = {BridgeShowCommand.class, BridgeCheckCommand.class, BridgeTraceCommand.class})
public final class BridgeCommand implements Runnable {
    @ParentCommand
    @SuppressWarnings("NullAway.Init") // picocli sets these before run
    private CommandRoot root;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    CommandRoot root() {
        return root;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "missing command");
    }
}
