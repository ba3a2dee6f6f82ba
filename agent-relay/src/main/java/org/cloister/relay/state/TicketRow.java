package org.cloister.relay.state;

import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.jspecify.annotations.Nullable;

/**
 * Ticket or opening with its current state. Its signed documents are queried one by one because they are large.
 *
 * @param withdrawn whether its controlling VM has withdrawn it
 * @param submitting when the relay last started to submit it; null before
 * @param job the Global Slurm's job id
 * @param nodes the Global Slurm's node names in the order of slots; empty until it runs
 * @param allocated whether its allocation is stored
 * @param endText text that explains the end
 */
public record TicketRow(
        TicketRequest request,
        TicketState state,
        boolean withdrawn,
        @Nullable Instant submitting,
        OptionalLong job,
        List<String> nodes,
        boolean allocated,
        @Nullable TicketEnd end,
        @Nullable String endText,
        @Nullable Instant ended) {
    public String id() {
        return request.id();
    }

    public boolean isOpening() {
        return request.isOpening();
    }
}
