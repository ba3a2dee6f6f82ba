package org.cloister.ctl;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The root of the command tree; does nothing by itself. */
@Command(
        name = "agentctl",
        description = "Looks after secure batch jobs on a shared Slurm cluster.",
        mixinStandardHelpOptions = true,
        versionProvider = BuildVersion.class,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {VersionCommand.class})
public final class Agentctl implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before run
    private CommandSpec spec;

    public static void main(String[] args) {
        System.exit(new CommandLine(new Agentctl()).execute(args));
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "missing command");
    }
}
