package org.cloister.slurm;

import java.util.ArrayList;
import java.util.List;

/**
 * A line of columns of fixed width, each followed by a bar, as squeue and sinfo print it with {@code -O field:width|}.
 * The content of a column moves no other one; a line of another form ends the reading, since then no column can be
 * trusted.
 */
public final class FixedWidthRow {
    private final String program;
    private final String line;
    private int at;

    private FixedWidthRow(String program, String line) {
        this.program = program;
        this.line = line;
    }

    /**
     * Splits the output into lines.
     *
     * @throws SlurmUnavailableException if there are more lines than {@code max}
     */
    public static List<FixedWidthRow> of(String program, String text, int max) throws SlurmUnavailableException {
        List<FixedWidthRow> lines = new ArrayList<>();
        for (String line : (Iterable<String>) text.lines()::iterator) {
            if (lines.size() == max) {
                throw new SlurmUnavailableException(program + ": more than " + max + " lines");
            }
            lines.add(new FixedWidthRow(program, line));
        }
        return lines;
    }

    /** Returns the next column, without trailing blanks. */
    public String next(int width) throws SlurmUnavailableException {
        int end = at + width;
        if (end >= line.length() || line.charAt(end) != '|') {
            throw strange();
        }
        String field = line.substring(at, end).stripTrailing();
        at = end + 1;
        return field;
    }

    public void requireEnd() throws SlurmUnavailableException {
        if (at != line.length()) {
            throw strange();
        }
    }

    /** Returns the error for a caller that finds a column's value invalid. */
    public SlurmUnavailableException strange() {
        return new SlurmUnavailableException(program + ": a line that is not as asked for: " + line);
    }
}
