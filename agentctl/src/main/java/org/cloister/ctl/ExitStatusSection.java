package org.cloister.ctl;

import picocli.CommandLine;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.CommandSpec;

/** Gives every command's help and man page the list of {@link ExitCode}. */
final class ExitStatusSection implements IModelTransformer {
    @Override
    public CommandSpec transform(CommandSpec spec) {
        spec.usageMessage().exitCodeListHeading("%nExit status%n").exitCodeList(ExitCode.table());
        spec.exitCodeOnInvalidInput(ExitCode.USAGE.code()).exitCodeOnExecutionException(ExitCode.INTERNAL.code());
        for (CommandLine subcommand : spec.subcommands().values()) {
            transform(subcommand.getCommandSpec());
        }
        return spec;
    }
}
