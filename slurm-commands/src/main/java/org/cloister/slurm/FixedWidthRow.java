package org.cloister.slurm;

import java.util.ArrayList;
import java.util.List;

/**
 * A line of columns of fixed width, each followed by a bar, as {@code -O field:width|} has squeue and sinfo print it. What
 * stands in a column moves no other one; a line that is otherwise ends the reading, for then none can be trusted.
 */
public final class FixedWidthRow {
    private final String program;
    private final String line;
    private int at;

    private FixedWidthRow(String program, String line) {
        this.program = program;
        this.line = line;
    }

    /** @throws SlurmUnavailableException if there are more lines than {@code max} */
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

    /** The next column, without the blanks behind. */
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

    /** For a reader who finds a column's value to be none that there is. */
    public SlurmUnavailableException strange() {
        return new SlurmUnavailableException(program + ": a line that is not as asked for: " + line);
    }
}
