package org.cloister.ctl.tunnel;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code agentctl tunnel}: shows, in a VM, its tunnels to the project's other VMs. */
@Command(
        name = "tunnel",
        description = "Shows and explains a VM's IPsec tunnels; changes nothing.",
        subcommands = {TunnelListCommand.class, TunnelExplainCommand.class})
public final class TunnelCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before run
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "missing command");
    }
}
