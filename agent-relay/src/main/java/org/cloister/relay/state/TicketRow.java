package org.cloister.relay.state;

import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.jspecify.annotations.Nullable;

/**
 * A ticket or an opening and what became of it. Its signed papers are asked for one by one: they are large.
 *
 * @param withdrawn its controlling VM does not want it any more
 * @param submitting when the relay last set out to submit it; null before
 * @param job Global Slurm's id
 * @param nodes Global Slurm's names in the order of slots; empty until it runs
 * @param allocated its allocation is kept
 * @param endText what is to be said of the end
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
