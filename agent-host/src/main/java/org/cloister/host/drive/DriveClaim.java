package org.cloister.host.drive;

import org.cloister.protocol.ticket.Ticket;

/**
 * Claim of a VM to its drive.
 *
 * @param epoch of its opening
 */
public record DriveClaim(DriveName drive, long epoch) {
    /** @throws IllegalArgumentException if a value is out of its range */
    public DriveClaim {
        if (epoch < 1 || epoch > Ticket.MAX_COUNT) {
            throw new IllegalArgumentException("epoch: want 1 to " + Ticket.MAX_COUNT + ", have " + epoch);
        }
    }
}
