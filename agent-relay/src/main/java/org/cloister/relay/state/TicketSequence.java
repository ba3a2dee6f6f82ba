package org.cloister.relay.state;

/**
 * Position of a ticket among those of its project: by the controlling VM's boot epoch, then by number.
 *
 * @param epoch 1 to 2^53-1
 * @param number 1 to 2^53-1; 0 for an opening, which only its drive's epoch orders
 */
public record TicketSequence(long epoch, long number) {
    @Override
    public String toString() {
        return "epoch " + epoch + " number " + number;
    }
}
