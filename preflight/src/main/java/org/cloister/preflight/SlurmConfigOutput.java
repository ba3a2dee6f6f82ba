package org.cloister.preflight;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.ProgramResult;
import org.cloister.preflight.machine.UndeterminedException;

/** Output of Slurm's commands about the site's own configuration, which no user writes. */
record SlurmConfigOutput(String text) {
    private static final String INSTALL = "apt-get install slurm-client, or dnf install slurm";

    /**
     * Runs a command.
     *
     * @throws UndeterminedException if the command is missing or failed
     */
    static SlurmConfigOutput of(InspectedMachine machine, String... arguments) throws UndeterminedException {
        ProgramResult result = run(machine, arguments);
        if (!result.succeeded()) {
            throw new UndeterminedException(
                    arguments[0] + ": " + SlurmClientCheck.firstErrorLine(result), String.join(" ", arguments));
        }
        return new SlurmConfigOutput(result.out());
    }

    static ProgramResult run(InspectedMachine machine, String... arguments) throws UndeterminedException {
        Optional<ProgramResult> result = machine.run(arguments);
        if (result.isEmpty()) {
            throw new UndeterminedException(arguments[0] + " is missing", INSTALL);
        }
        return result.get();
    }

    /**
     * Returns the value of {@code Key = VALUE} at a line's start, or of {@code Key=VALUE} anywhere between blanks;
     * empty if there is none.
     */
    String value(String key) {
        Matcher found =
                Pattern.compile("(?m)(?:^|\\s)" + key + "(?:\\s+= |=)(\\S*)").matcher(text);
        return found.find() ? found.group(1) : "";
    }

    /** Returns whether a list such as AllowAccounts contains a name, or is ALL. */
    boolean allows(String key, String name) {
        List<String> names = List.of(value(key).split(",", -1));
        return names.equals(List.of("ALL")) || names.contains(name);
    }

    boolean isEmpty() {
        return text.isBlank();
    }
}
