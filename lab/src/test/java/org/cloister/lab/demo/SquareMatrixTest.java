package org.cloister.lab.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.junit.jupiter.api.Test;

class SquareMatrixTest {
    private final Random random = new Random(1);

    @Test
    void knows_its_square_and_nothing_else_as_that() {
        SquareMatrix matrix = SquareMatrix.parse("# of nobody's\n1 2\n3 4\n");
        assertThat(matrix.hasSquare(SquareMatrix.parse("7 10\n15 22\n"), random))
                .isTrue();
        assertThat(matrix.hasSquare(SquareMatrix.parse("7 10\n15 23\n"), random))
                .isFalse();
        assertThat(matrix.hasSquare(SquareMatrix.parse("7\n"), random)).isFalse();
    }

    @Test
    void is_read_as_it_was_written() {
        SquareMatrix matrix = SquareMatrix.random(5, random);
        assertThat(SquareMatrix.parse(matrix.text()).text()).isEqualTo(matrix.text());
        assertThat(matrix.size()).isEqualTo(5);
    }

    @Test
    void is_refused_when_rows_are_not_as_long_as_there_are_many() {
        assertThatThrownBy(() -> SquareMatrix.parse("1 2\n3\n"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("matrix: want 2 numbers in each of as many rows");
    }
}
