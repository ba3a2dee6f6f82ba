package org.cloister.protocol.link;

import java.time.Duration;

/** Time that a relay requests its agents to wait before they dial again: a minimum plus a random part of a spread. */
public record ReconnectDelay(Duration atLeast, Duration spread) {
    /** Limit that an agent applies to both values, so that a relay cannot send its agents away for good. */
    public static final Duration LONGEST = Duration.ofSeconds(60);
    /** Delay before any relay has sent one. */
    public static final ReconnectDelay DEFAULT = new ReconnectDelay(Duration.ofMillis(500), Duration.ofMillis(500));
    /** Delay between a VM and its host; docs/protocol.md, section 10. */
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

    /** Reads a delay from the wire; values above {@link #LONGEST} are reduced to it. */
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
