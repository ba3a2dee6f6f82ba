package org.cloister.ctl;

import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.CommandSpec;

/** Gives every command's help and man page the list of {@link ExitCode}, with what the command adds to it. */
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
