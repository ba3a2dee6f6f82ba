package org.cloister.protocol.receipt;

import java.time.Instant;
import java.util.Optional;
import org.cloister.protocol.ticket.TicketVerifier;

/** Checks that times of several clocks are in order, within the tolerance between clocks. */
final class TimeOrderCheck {
    private final ReceiptFindings findings;
    private final String subject;
    private String name = "";
    private Instant last = Instant.MIN;

    TimeOrderCheck(ReceiptFindings findings, String subject) {
        this.findings = findings;
        this.subject = subject;
    }

    /** Checks the next time, which must not be earlier than those before. */
    TimeOrderCheck then(String next, Instant time) {
        if (time.plus(TicketVerifier.TOLERANCE).isBefore(last)) {
            findings.wrong(subject, next + ": want a time not before " + name + ", " + last + ", have " + time);
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
