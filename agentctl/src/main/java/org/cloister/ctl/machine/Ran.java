package org.cloister.ctl.machine;

/**
 * A program that ran to its end.
 *
 * @param status its exit status; 128 and the signal's number where one ended it
 * @param out what it printed, cut at {@link LiveMachine#MAX_OUTPUT_BYTES}
 */
public record Ran(int status, String out, String err) {
    public boolean succeeded() {
        return status == 0;
    }

    /** What it said of its failure, in one line: the first line of its errors, or else its status. */
    public String complaint() {
        String said = firstLine(err.isBlank() ? out : err);
        return said.isEmpty() ? "exit status " + status : said;
    }

    /** The first line of what it printed that says something. */
    public String answer() {
        return firstLine(out);
    }

    private static String firstLine(String text) {
        return text.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .findFirst()
                .orElse("");
    }
}
