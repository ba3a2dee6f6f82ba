package org.cloister.protocol.handover;

import java.time.Instant;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;

/** What values of a boot conversation have to be. Each throws an IllegalArgumentException without the peer's own words. */
final class Require {
    /** Of the year 10000. */
    private static final long LAST_MS = 253_402_300_800_000L;

    private Require() {}

    static void that(boolean holds, String what, String want, Object have) {
        if (!holds) {
            throw new IllegalArgumentException(what + ": want " + want + ", have " + have);
        }
    }

    static void within(String what, long value, long least, long most) {
        that(value >= least && value <= most, what, least + " to " + most, value);
    }

    static void ticket(String ticket) {
        that(Ticket.ID.matcher(ticket).matches(), "ticket", "26 characters of base32", other(ticket));
    }

    static void slot(int slot) {
        within("slot", slot, 0, ResourceRequest.MAX_NODES - 1);
    }

    static void vm(String vm) {
        that(VmFacts.ID.matcher(vm).matches(), "vm", "16 to 64 characters of base32", other(vm));
    }

    static void time(Instant time) {
        within("time", time.toEpochMilli(), 0, LAST_MS - 1);
    }

    /** What is said of a text that has another form. */
    static String other(String text) {
        return text.length() + " characters of another form";
    }

    /** Of a uint32 on the wire, which Java reads as a negative number above its own range. */
    static long unsigned(int value) {
        return Integer.toUnsignedLong(value);
    }
}
