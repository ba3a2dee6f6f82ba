package org.cloister.lab.demo;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Integers in rows, as text: a row a line, numbers with a blank between them, remarks on lines that begin with #. */
final class SquareMatrix {
    private static final int MOST = 100;

    private final long[][] rows;

    private SquareMatrix(long[][] rows) {
        this.rows = rows;
    }

    /** Of numbers from 0 to 99. */
    static SquareMatrix random(int size, Random random) {
        return new SquareMatrix(IntStream.range(0, size)
                .mapToObj(row -> random.longs(size, 0, MOST).toArray())
                .toArray(long[][]::new));
    }

    /** @throws IllegalArgumentException if it is none, in one line */
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
     * Whether another one is this one times itself, without that multiplication: both do the same to a vector. By the method of
     * Freivalds; a wrong one passes with a chance of less than one in a million a row that is wrong.
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
