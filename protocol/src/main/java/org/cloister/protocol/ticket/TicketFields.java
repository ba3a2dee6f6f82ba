package org.cloister.protocol.ticket;

import java.time.Instant;
import java.util.List;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.identity.CertificateName;

/** Checks the values that ticket messages share, on receipt. */
final class TicketFields {
    static final int MAX_TEXT = 512;

    static final int MAX_SHARES = 16;

    private static final long YEAR_10000 = 253_402_300_800L;
    private static final int MAX_SLOT = 4095;

    private TicketFields() {}

    static String id(String text) throws MalformedException {
        if (!Ticket.ID.matcher(text).matches()) {
            throw new MalformedException("ticket: want 26 characters of base32, have " + StrictJson.quoted(text));
        }
        return text;
    }

    static long job(long job) throws MalformedException {
        if (job < 1 || job > Ticket.MAX_COUNT) {
            throw new MalformedException("job: want 1 to 2^53, have " + Long.toUnsignedString(job));
        }
        return job;
    }

    static int slot(int slot) throws MalformedException {
        if (slot < 0 || slot > MAX_SLOT) {
            throw new MalformedException("slot: want 0 to " + MAX_SLOT + ", have " + Integer.toUnsignedString(slot));
        }
        return slot;
    }

    static HostFaultCode fault(String word) throws MalformedException {
        return HostFaultCode.of(word)
                .orElseThrow(() -> new MalformedException(
                        "fault: want one of " + List.of(HostFaultCode.values()) + ", have " + StrictJson.quoted(word)));
    }

    /** Checks a word or name of a-z, 0-9 and -, which a later version may have and this one does not. */
    static String label(String field, String text) throws MalformedException {
        if (!CertificateName.isLabel(text)) {
            throw new MalformedException(field + ": want a word of a-z, 0-9 and -, have " + StrictJson.quoted(text));
        }
        return text;
    }

    static Instant time(long seconds) throws MalformedException {
        if (seconds < 0 || seconds >= YEAR_10000) {
            throw new MalformedException("time: want seconds of this era, have " + seconds);
        }
        return Instant.ofEpochSecond(seconds);
    }

    static String text(String text) throws MalformedException {
        if (text.length() > MAX_TEXT || !text.chars().allMatch(c -> c >= ' ' && c <= '~')) {
            throw new MalformedException("text: want at most " + MAX_TEXT + " printable ASCII characters, have "
                    + text.length() + " of another kind");
        }
        return text;
    }

    /**
     * Replaces all but printable ASCII in a text of another origin, and shortens it, so that it may be sent to an
     * agent.
     */
    static String printable(String text) {
        String one = text.chars()
                .limit(MAX_TEXT)
                .map(c -> c >= ' ' && c <= '~' ? c : '?')
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
        return one.strip();
    }
}
