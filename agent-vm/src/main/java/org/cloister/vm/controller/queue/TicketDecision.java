package org.cloister.vm.controller.queue;

import java.util.Optional;
import java.util.Set;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;

/** Decision on an open ticket. */
sealed interface TicketDecision {
    /** Wait until something changes. */
    record Wait() implements TicketDecision {}

    /** All its nodes are idle, and its job waits for nothing else. */
    record Ready() implements TicketDecision {}

    /**
     * The job runs on it.
     *
     * @param goneNodes nodes whose VM is gone, which Slurm does not know yet
     * @param ending whether the epilogs run: its nodes accept no other job
     */
    record Runs(Set<String> goneNodes, boolean ending) implements TicketDecision {}

    /**
     * The ticket is closed; its job, if it continues, gets another one.
     *
     * @param unplace whether the job must first be released from it
     * @param failure present if the close counts as a failure
     */
    record GiveUp(boolean unplace, JobTicket.Stage stage, Optional<EndReason> failure) implements TicketDecision {}
}
