package org.cloister.preflight;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Folders of agent-host's configuration. The daemon reads the file as a whole; a check needs no more of it than these,
 * and must not fail with it.
 *
 * @param text of the file; empty without one
 */
record AgentHostSettings(String text) {
    private static final String FILE = "/etc/cloister/agent-host.toml";

    static AgentHostSettings of(InspectedMachine machine) throws UndeterminedException {
        return new AgentHostSettings(machine.read(FILE).orElse(""));
    }

    /** Returns the text value of a key that no two tables have. */
    Optional<String> value(String key) {
        Matcher line =
                Pattern.compile("(?m)^\\s*" + key + "\\s*=\\s*\"([^\"]+)\"").matcher(text);
        return line.find() ? Optional.of(line.group(1)) : Optional.empty();
    }
}
