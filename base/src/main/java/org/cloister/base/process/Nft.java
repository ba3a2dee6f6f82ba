package org.cloister.base.process;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * Runs the program {@code nft}, which checks rules and passes them to the kernel as one transaction.
 *
 * @param command the program's absolute path, preceded by the command that enters another network namespace if there
 *     is one
 */
public record Nft(List<String> command) {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    public Nft {
        command = List.copyOf(command);
    }

    public static Nft ofThisMachine() {
        return new Nft(List.of("/usr/sbin/nft"));
    }

    /** Applies rules as one transaction. */
    public void apply(String rules) throws IOException {
        run(rules, List.of("-f", "-"));
    }

    /** Returns what a command such as {@code list tables inet} prints. */
    public String query(String... arguments) throws IOException {
        return run("", List.of(arguments));
    }

    /** Returns a table of the family inet without its counters, or an empty text if it does not exist. */
    public String listTable(String table) throws IOException {
        // A request for a missing table is an error like any other; the list of all tables is not.
        return query("list", "tables", "inet").lines().anyMatch(("table inet " + table)::equals)
                ? query("--stateless", "list", "table", "inet", table)
                : "";
    }

    private String run(String input, List<String> arguments) throws IOException {
        ProcessRunner.Output output = ProcessRunner.withPrefix(command).run(input, arguments, LIMIT);
        if (output.exit() != 0) {
            throw new IOException("nft " + String.join(" ", arguments) + ": exit " + output.exit() + ": "
                    + (output.err().isBlank() ? output.out() : output.err()).strip());
        }
        return output.out();
    }
}
