package org.cloister.ctl.host;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code agentctl host}: commands on a compute host for its operator and for job steps. */
@Command(
        name = "host",
        description = "Enrols and prepares this compute host, shows and runs its VMs of tickets.",
        subcommands = {
            HostPrepareCommand.class,
            HostJoinCommand.class,
            HostDrivesCommand.class,
            HostStatusCommand.class,
            HostVmsCommand.class,
            HostLedgerCommand.class,
            HostRenderCommand.class,
            HostStopCommand.class,
            HostRunCommand.class
        })
public final class HostCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before run
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "missing command");
    }
}
