package org.cloister.ctl.output;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Table of text cells whose columns are as wide as their contents, separated by two blanks. Control characters are
 * replaced.
 */
public final class TextTable {
    private final List<List<String>> rows = new ArrayList<>();

    public TextTable row(String... cells) {
        rows.add(cellsOf(cells));
        return this;
    }

    @Override
    public String toString() {
        int columns = rows.stream().mapToInt(List::size).max().orElse(0);
        List<Integer> widths = IntStream.range(0, columns).mapToObj(this::width).toList();
        return rows.stream().map(row -> line(row, widths)).collect(Collectors.joining());
    }

    /** Returns a column's width. A row's last cell is ignored, because it often is a sentence. */
    private int width(int column) {
        return rows.stream()
                .filter(row -> column < row.size() - 1)
                .mapToInt(row -> row.get(column).length())
                .max()
                .orElse(0);
    }

    private static String line(List<String> row, List<Integer> widths) {
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < row.size(); column++) {
            String cell = row.get(column);
            line.append(cell);
            if (column < row.size() - 1) {
                line.append(" ".repeat(Math.max(0, widths.get(column) - cell.length()) + 2));
            }
        }
        return line.toString().stripTrailing() + "\n";
    }

    private static List<String> cellsOf(String... cells) {
        return List.of(cells).stream().map(TextTable::escapeControls).toList();
    }

    /**
     * Replaces control characters, so that another program's output cannot move the cursor, end the line, or reverse
     * the order of its text.
     */
    public static String escapeControls(String cell) {
        return cell.codePoints()
                .mapToObj(c -> isInvisible(c) ? "?" : Character.toString(c))
                .collect(Collectors.joining());
    }

    private static boolean isInvisible(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> true;
            default -> false;
        };
    }
}
