package org.cloister.ctl.project;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/** Options of a mixin that an argument of the command makes meaningless. */
final class UnusedOptions {
    private UnusedOptions() {}

    /**
     * Rejects all options of a mixin.
     *
     * @param why continues the option's name
     */
    static void reject(CommandSpec mixin, CommandSpec command, String why) {
        for (OptionSpec option : mixin.options()) {
            String name = option.longestName();
            if (command.commandLine().getParseResult().hasMatchedOption(name)) {
                throw new ParameterException(command.commandLine(), name + why);
            }
        }
    }
}
