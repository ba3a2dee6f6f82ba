package org.cloister.relay.state;

/**
 * A ticket's place among those of its project: by the controlling VM's boot epoch, then by number.
 *
 * @param epoch 1 to 2^53-1
 * @param number 1 to 2^53-1; 0 of an opening, which is counted by its drive's epoch alone
 */
public record TicketSequence(long epoch, long number) {
    @Override
    public String toString() {
        return "epoch " + epoch + " number " + number;
    }
}
