package org.cloister.host.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class DrainReasonTest {
    private static final long NOW = Instant.parse("2026-02-03T04:05:06.789Z").toEpochMilli();

    @Test
    void what_is_read_back_is_what_was_set() {
        for (boolean stays : new boolean[] {false, true}) {
            DrainReason reason = DrainReason.of("scratch failed: no space", NOW, stays);
            assertThat(DrainReason.parse(reason.toString())).contains(reason);
            assertThat(reason.toString())
                    .matches("cloister: scratch failed: no space \\(20260203T040506Z until "
                            + (stays ? "resumed" : "clean") + " [0-9a-f]{8}\\)");
        }
    }

    @Test
    void a_reason_in_which_a_letter_was_changed_is_not_ours() {
        String reason = DrainReason.of("scratch failed", NOW, true).toString();
        for (int at = 0; at < reason.length(); at++) {
            char other = reason.charAt(at) == 'x' ? 'y' : 'x';
            assertThat(DrainReason.parse(reason.substring(0, at) + other + reason.substring(at + 1)))
                    .as("changed at %d", at)
                    .isEmpty();
        }
        assertThat(DrainReason.parse(reason + " seen by ann")).isEmpty();
        assertThat(DrainReason.parse(reason.replace("until resumed", "until clean")))
                .isEmpty();
        assertThat(DrainReason.parse("cloister: broken disk")).isEmpty();
        assertThat(DrainReason.parse("")).isEmpty();
    }

    @Test
    void any_text_becomes_one_line_that_no_shell_takes_for_more() {
        String text = "  it's \"full\"\n$(reboot) `x` \\ | & ; < > * ? [a] {b} \u00e4 \u0000" + "long ".repeat(100);
        DrainReason reason = DrainReason.of(text, NOW, false);
        assertThat(reason.toString())
                .matches("cloister: [A-Za-z0-9 .,:;/_=+@-]{150,160} \\([0-9TZ]+ until clean [0-9a-f]{8}\\)");
        assertThat(DrainReason.parse(reason.toString())).contains(reason);
        assertThat(DrainReason.of("\n \t", NOW, false).text()).isEqualTo("no reason given");
        assertThatThrownBy(() -> new DrainReason("a\"b", Instant.EPOCH, false))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
