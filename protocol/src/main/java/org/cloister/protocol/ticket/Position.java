package org.cloister.protocol.ticket;

import java.util.Comparator;

/** Where a ticket stands among its project's: by the controlling VM's boot, then by count. */
public record Position(long epoch, long sequence) implements Comparable<Position> {
    /** Before every ticket. */
    public static final Position NONE = new Position(0, 0);

    private static final Comparator<Position> ORDER =
            Comparator.comparingLong(Position::epoch).thenComparingLong(Position::sequence);

    @Override
    public int compareTo(Position other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return epoch + "." + sequence;
    }
}
