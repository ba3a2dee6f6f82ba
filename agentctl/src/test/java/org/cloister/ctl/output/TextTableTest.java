package org.cloister.ctl.output;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Text from others is printed without effects on the terminal. */
class TextTableTest {
    @Test
    void a_cell_neither_moves_the_cursor_nor_ends_the_line_nor_turns_letters_round() {
        assertThat(TextTable.escapeControls("a\u001b[2Jb\r\nc\u009b1md")).isEqualTo("a?[2Jb??c?1md");
        assertThat(TextTable.escapeControls("gpj.\u202egnp.exe\u2066x\u200b")).isEqualTo("gpj.?gnp.exe?x?");
        assertThat(TextTable.escapeControls("a\u2028b\ud800")).isEqualTo("a?b?");
    }

    @Test
    void letters_of_any_language_stay() {
        assertThat(TextTable.escapeControls("Łódź 東京 \ud83d\ude00")).isEqualTo("Łódź 東京 \ud83d\ude00");
    }
}
