package org.cloister.protocol.ticket;

import java.util.Comparator;

/** Where a ticket stands among its project's: by the controlling VM's boot, then by count. */
public record TicketPosition(long epoch, long sequence) implements Comparable<TicketPosition> {
    /** Before every ticket. */
    public static final TicketPosition NONE = new TicketPosition(0, 0);

    private static final Comparator<TicketPosition> ORDER =
            Comparator.comparingLong(TicketPosition::epoch).thenComparingLong(TicketPosition::sequence);

    @Override
    public int compareTo(TicketPosition other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return epoch + "." + sequence;
    }
}
