package org.cloister.ctl;

import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.CommandSpec;

/**
 * Adds the list of {@link ExitCode} to the help and man page of every command, with the statuses that the command adds.
 */
final class ExitStatusSection implements IModelTransformer {
    @Override
    public CommandSpec transform(CommandSpec spec) {
        Map<String, String> table = new TreeMap<>(Comparator.comparingInt(Integer::parseInt));
        table.putAll(ExitCode.table());
        table.putAll(spec.usageMessage().exitCodeList());
        spec.usageMessage().exitCodeListHeading("%nExit status%n").exitCodeList(table);
        spec.exitCodeOnInvalidInput(ExitCode.USAGE.code()).exitCodeOnExecutionException(ExitCode.INTERNAL.code());
        for (CommandLine subcommand : spec.subcommands().values()) {
            transform(subcommand.getCommandSpec());
        }
        return spec;
    }
}
