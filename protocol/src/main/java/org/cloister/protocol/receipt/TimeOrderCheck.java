package org.cloister.protocol.receipt;

import java.time.Instant;
import java.util.Optional;
import org.cloister.protocol.ticket.TicketVerifier;

/** Whether times that several clocks claim are in order, give or take how far clocks may be apart. */
final class TimeOrderCheck {
    private final ReceiptFindings findings;
    private final String place;
    private String name = "";
    private Instant last = Instant.MIN;

    TimeOrderCheck(ReceiptFindings findings, String place) {
        this.findings = findings;
        this.place = place;
    }

    /** The next, not earlier than those before. */
    TimeOrderCheck then(String next, Instant time) {
        if (time.plus(TicketVerifier.TOLERANCE).isBefore(last)) {
            findings.wrong(place, next + ": want a time not before " + name + ", " + last + ", have " + time);
        }
        if (time.isAfter(last)) {
            name = next;
            last = time;
        }
        return this;
    }

    TimeOrderCheck then(String next, Optional<Instant> time) {
        return time.isPresent() ? then(next, time.get()) : this;
    }
}
