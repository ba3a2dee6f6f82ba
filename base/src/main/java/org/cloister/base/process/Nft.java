package org.cloister.base.process;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs the program {@code nft}, which checks rules and passes them to the kernel as one transaction.
 *
 * @param command the program's absolute path, preceded by the command that enters another network namespace if there
 *     is one
 */
public record Nft(List<String> command) {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    public Nft {
        command = List.copyOf(command);
    }

    public static Nft ofThisMachine() {
        return on(ProcessRunner.local());
    }

    /** Returns the program of the machine that the runner's programs run on. */
    public static Nft on(ProcessRunner programs) {
        return new Nft(programs.argv(List.of("/usr/sbin/nft")));
    }

    /** Applies rules as one transaction. */
    public void apply(String rules) throws IOException {
        run(rules, List.of("-f", "-"));
    }

    /** Replaces a table of the family inet, whether it exists or not, as one transaction. */
    public void replaceTable(String table, String rules) throws IOException {
        apply("table inet " + table + "\ndelete table inet " + table + "\n" + rules);
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
        List<String> argv = new ArrayList<>(command);
        argv.addAll(arguments);
        ProcessRunner.Output output = ProcessRunner.local().run(input, argv, LIMIT);
        if (output.exit() != 0) {
            // The first line is the error; those below it show the rule.
            throw new IOException("nft " + String.join(" ", arguments) + ": exit " + output.exit() + ": "
                    + output.err().lines().findFirst().orElse("no message")
                    + "; run it as root, on a kernel with nf_tables");
        }
        return output.out();
    }
}
