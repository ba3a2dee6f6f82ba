package org.cloister.preflight.machine;

import java.util.Locale;

/**
 * A program that ran to its end.
 *
 * @param status its exit status; 128 and the signal's number where one ended it
 * @param out what it printed, cut at {@link LiveMachine#MAX_OUTPUT_BYTES}
 */
public record ProgramResult(int status, String out, String err) {
    public boolean succeeded() {
        return status == 0;
    }

    /** What it said of its failure, in one line: the first line of its errors, or else its status. */
    public String firstErrorLine() {
        String said = firstLine(err.isBlank() ? out : err);
        return said.isEmpty() ? "exit status " + status : said;
    }

    /** The first line of what it printed that says something. */
    public String firstOutputLine() {
        return firstLine(out);
    }

    /** Passes on itself unless the answer was kept from this user, which says nothing about what was asked for. */
    public ProgramResult requirePermitted() throws UndeterminedException {
        String said = err.toLowerCase(Locale.ROOT);
        if (status != 0 && (said.contains("permission denied") || said.contains("authentication unavailable"))) {
            throw new UndeterminedException(firstErrorLine(), "run agentctl as root");
        }
        return this;
    }

    private static String firstLine(String text) {
        return text.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .findFirst()
                .orElse("");
    }
}
