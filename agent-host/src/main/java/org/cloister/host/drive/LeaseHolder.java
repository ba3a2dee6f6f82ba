package org.cloister.host.drive;

import org.cloister.base.json.StrictJson;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.ticket.Ticket;

/**
 * Holder of a drive, or an earlier holder that may still write to it.
 *
 * @param epoch with which it acquired the drive
 * @param host its name in its certificate
 * @param opening the id of its opening
 * @param seconds for which its VM may run without a check of the lease; a later holder waits as long
 */
public record LeaseHolder(long epoch, String host, String opening, int seconds) {
    /**
     * Least lease age: a sixth is the interval of checks, half the time to tolerate a silent storage, the rest the time
     * to stop a VM.
     */
    public static final int MIN_SECONDS = 12;

    public static final int MAX_SECONDS = 3600;

    /** Maximum length of a host's name, in characters. */
    private static final int MAX_HOST = 253;

    /** @throws IllegalArgumentException if a value is out of its range */
    public LeaseHolder {
        if (epoch < 1 || epoch > Ticket.MAX_COUNT) {
            throw new IllegalArgumentException("epoch: want 1 to " + Ticket.MAX_COUNT + ", have " + epoch);
        }
        if (host.isEmpty() || host.length() > MAX_HOST || !host.matches("[a-z0-9.-]+")) {
            throw new IllegalArgumentException("host: want a name, have " + StrictJson.quoted(host));
        }
        if (!VmFacts.ID.matcher(opening).matches()) {
            throw new IllegalArgumentException("opening: want " + VmFacts.ID + ", have " + StrictJson.quoted(opening));
        }
        if (seconds < MIN_SECONDS || seconds > MAX_SECONDS) {
            throw new IllegalArgumentException(
                    "seconds: want " + MIN_SECONDS + " to " + MAX_SECONDS + ", have " + seconds);
        }
    }

    boolean isSame(LeaseHolder other) {
        return epoch == other.epoch && host.equals(other.host) && opening.equals(other.opening);
    }

    @Override
    public String toString() {
        return "opening " + opening + " on " + host + " by epoch " + epoch;
    }
}
