package org.cloister.ctl.relay;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code agentctl relay}: commands on the relay's machine for its operator. */
@Command(
        name = "relay",
        description = "Enrols the relay on this machine, shows what it serves, and delivers documents to it.",
        subcommands = {
            RelayJoinCommand.class,
            RelayStatusCommand.class,
            RelayHostsCommand.class,
            RelayTicketsCommand.class,
            RelayDeliverCommand.class,
            RelayDrainCommand.class
        })
public final class RelayCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before run
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "missing command");
    }
}
