package org.cloister.protocol.link;

import java.time.Duration;

/** How long a relay wants its agents to wait before they dial again: at least, and a random part of a spread. */
public record ReconnectDelay(Duration atLeast, Duration spread) {
    /** What an agent believes at most of either: a relay cannot send its agents away for good. */
    public static final Duration LONGEST = Duration.ofSeconds(60);
    /** Before any relay has said one. */
    public static final ReconnectDelay DEFAULT = new ReconnectDelay(Duration.ofMillis(500), Duration.ofMillis(500));
    /** Between a VM and its host; docs/protocol.md, section 10. */
    public static final ReconnectDelay ON_CHANNEL = new ReconnectDelay(Duration.ofSeconds(1), Duration.ZERO);

    public ReconnectDelay {
        if (atLeast.isNegative()
                || spread.isNegative()
                || atLeast.compareTo(LONGEST) > 0
                || spread.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("pace: want 0 to " + LONGEST.toSeconds() + " s each, have "
                    + atLeast.toMillis() + " ms and " + spread.toMillis() + " ms");
        }
    }

    /** From the wire: what is more than {@link #LONGEST} counts as that. */
    public static ReconnectDelay of(org.cloister.protocol.link.wire.Pace wire) {
        return new ReconnectDelay(believed(wire.getAtLeastMs()), believed(wire.getSpreadMs()));
    }

    public org.cloister.protocol.link.wire.Pace wire() {
        return org.cloister.protocol.link.wire.Pace.newBuilder()
                .setAtLeastMs((int) atLeast.toMillis())
                .setSpreadMs((int) spread.toMillis())
                .build();
    }

    private static Duration believed(int unsignedMs) {
        return Duration.ofMillis(Math.min(Integer.toUnsignedLong(unsignedMs), LONGEST.toMillis()));
    }
}
