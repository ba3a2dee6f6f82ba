package org.cloister.lab.demo;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A matrix of integers as text: one row on each line, numbers separated by a blank, remarks on lines that begin with #.
 */
final class SquareMatrix {
    private static final int MOST = 100;

    private final long[][] rows;

    private SquareMatrix(long[][] rows) {
        this.rows = rows;
    }

    /** Returns a matrix of numbers from 0 to 99. */
    static SquareMatrix random(int size, Random random) {
        return new SquareMatrix(IntStream.range(0, size)
                .mapToObj(row -> random.longs(size, 0, MOST).toArray())
                .toArray(long[][]::new));
    }

    /** @throws IllegalArgumentException if the text is not a square matrix, in one line */
    static SquareMatrix parse(String text) {
        long[][] rows = text.lines()
                .filter(line -> !line.startsWith("#"))
                .map(line ->
                        Stream.of(line.split(" ")).mapToLong(Long::parseLong).toArray())
                .toArray(long[][]::new);
        if (!Arrays.stream(rows).allMatch(row -> row.length == rows.length)) {
            throw new IllegalArgumentException("matrix: want " + rows.length + " numbers in each of as many rows");
        }
        return new SquareMatrix(rows);
    }

    int size() {
        return rows.length;
    }

    String text() {
        return Arrays.stream(rows)
                .map(row -> Arrays.stream(row).mapToObj(Long::toString).collect(Collectors.joining(" ", "", "\n")))
                .collect(Collectors.joining());
    }

    /**
     * Returns whether another matrix is the square of this one, without the multiplication: both map a vector to the
     * same result (the method of Freivalds). A wrong matrix passes with a chance of less than one in a million for each
     * wrong row.
     */
    boolean hasSquare(SquareMatrix other, Random random) {
        long[] vector = random.longs(size(), 0, 1 << 20).toArray();
        return other.size() == size() && Arrays.equals(other.times(vector), times(times(vector)));
    }

    private long[] times(long[] vector) {
        return Arrays.stream(rows)
                .mapToLong(row -> IntStream.range(0, row.length)
                        .mapToLong(i -> row[i] * vector[i])
                        .sum())
                .toArray();
    }
}
