package org.cloister.protocol.handover;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.cloister.protocol.handover.wire.LastEnd;

/**
 * Report of a controlling VM that ended itself, for the people who open its drive next. It contains no secret.
 *
 * @param time by the VM's clock
 * @param reason printable ASCII
 */
public record VmEndReport(Instant time, String reason) {
    /** Limit of the reason, in characters. */
    public static final int MAX_REASON = 4000;

    /** @throws IllegalArgumentException if a value is out of its range */
    public VmEndReport {
        HandoverChecks.time(time);
        HandoverChecks.that(
                !reason.isEmpty()
                        && reason.length() <= MAX_REASON
                        && reason.chars().allMatch(VmEndReport::isPrintable),
                "reason",
                "1 to " + MAX_REASON + " printable ASCII characters",
                HandoverChecks.other(reason));
    }

    /** Returns the report for any text: shortens it, and replaces characters that are not printable ASCII. */
    public static VmEndReport of(Instant time, String text) {
        StringBuilder reason = new StringBuilder();
        text.chars().limit(MAX_REASON).forEach(c -> reason.append(isPrintable(c) ? (char) c : c == '\n' ? ' ' : '?'));
        return new VmEndReport(time.truncatedTo(ChronoUnit.SECONDS), reason.isEmpty() ? "?" : reason.toString());
    }

    static VmEndReport of(LastEnd end) {
        return new VmEndReport(Instant.ofEpochMilli(end.getTime()), end.getText());
    }

    LastEnd wire() {
        return LastEnd.newBuilder().setTime(time.toEpochMilli()).setText(reason).build();
    }

    private static boolean isPrintable(int c) {
        return c >= ' ' && c <= '~';
    }
}
