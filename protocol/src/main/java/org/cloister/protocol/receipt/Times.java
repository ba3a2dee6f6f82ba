package org.cloister.protocol.receipt;

import java.time.Instant;
import java.util.Optional;
import org.cloister.protocol.ticket.TicketCheck;

/** Whether times that several clocks claim are in order, give or take how far clocks may be apart. */
final class Times {
    private final Findings findings;
    private final String place;
    private String name = "";
    private Instant last = Instant.MIN;

    Times(Findings findings, String place) {
        this.findings = findings;
        this.place = place;
    }

    /** The next, not earlier than those before. */
    Times then(String next, Instant time) {
        if (time.plus(TicketCheck.TOLERANCE).isBefore(last)) {
            findings.wrong(place, next + ": want a time not before " + name + ", " + last + ", have " + time);
        }
        if (time.isAfter(last)) {
            name = next;
            last = time;
        }
        return this;
    }

    Times then(String next, Optional<Instant> time) {
        return time.isPresent() ? then(next, time.get()) : this;
    }
}
