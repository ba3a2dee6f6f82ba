package org.cloister.vm.controller.queue;

import java.util.Optional;
import java.util.Set;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;

/** What becomes of an open ticket now. */
sealed interface TicketDecision {
    /** Nothing, until something happens. */
    record Wait() implements TicketDecision {}

    /** All its nodes are idle and its job waits for nothing else. */
    record Ready() implements TicketDecision {}

    /**
     * Its job runs on it.
     *
     * @param goneNodes nodes whose VM has gone, which Slurm does not know
     * @param ending whether the epilogs run: its nodes take no other job
     */
    record Runs(Set<String> goneNodes, boolean ending) implements TicketDecision {}

    /**
     * It is closed; its job, if it goes on, gets another.
     *
     * @param unplace whether its job must first be taken off it
     * @param failure if it counts as one
     */
    record GiveUp(boolean unplace, JobTicket.Stage stage, Optional<EndReason> failure) implements TicketDecision {}
}
