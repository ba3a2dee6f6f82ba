package org.cloister.protocol.ticket;

import java.util.Comparator;

/** Position of a ticket among its project's tickets: by the controlling VM's boot, then by count. */
public record TicketPosition(long epoch, long sequence) implements Comparable<TicketPosition> {
    /** Position before every ticket. */
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
