package org.cloister.preflight.machine;

import java.util.Locale;

/**
 * Result of a program that exited.
 *
 * @param status its exit status; 128 plus the signal's number if a signal ended it
 * @param out its output, cut at {@link LiveMachine#MAX_OUTPUT_BYTES}
 */
public record ProgramResult(int status, String out, String err) {
    public boolean succeeded() {
        return status == 0;
    }

    /** Returns the cause of its failure in one line: the first line of its errors, or else its status. */
    public String firstErrorLine() {
        String error = firstLine(err.isBlank() ? out : err);
        return error.isEmpty() ? "exit status " + status : error;
    }

    /** Returns the first line of its output that is not blank. */
    public String firstOutputLine() {
        return firstLine(out);
    }

    /**
     * Returns this result unless the answer was withheld from this user, which shows nothing about the requested item.
     */
    public ProgramResult requirePermitted() throws UndeterminedException {
        String error = err.toLowerCase(Locale.ROOT);
        if (status != 0 && (error.contains("permission denied") || error.contains("authentication unavailable"))) {
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
