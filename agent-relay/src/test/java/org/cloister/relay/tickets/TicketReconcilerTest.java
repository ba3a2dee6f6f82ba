package org.cloister.relay.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.slurm.GlobalJob;
import org.cloister.relay.slurm.GlobalJobState;
import org.cloister.relay.tickets.TicketReconciler.Step;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TicketReconcilerTest {
    private static final String ID = "aaaaaaaaaaaaaaaaaaaaaaaaaa";

    private static GlobalJob job(long id, GlobalJobState state) {
        return new GlobalJob(id, ID, state, "", List.of());
    }

    private static TicketReconciler.TicketView ticket(TicketState state, long job, boolean settled) {
        return new TicketReconciler.TicketView(state, job, Optional.empty(), settled);
    }

    private static TicketReconciler.TicketView stopped(TicketState state, long job, boolean settled) {
        return new TicketReconciler.TicketView(state, job, Optional.of(TicketEnd.WITHDRAWN), settled);
    }

    private static TicketReconciler.SlurmAnswer seen(GlobalJob... jobs) {
        return new TicketReconciler.SlurmAnswer(Arrays.asList(jobs), Optional.empty());
    }

    private static TicketReconciler.SlurmAnswer accounted(GlobalJob... jobs) {
        return new TicketReconciler.SlurmAnswer(List.of(), Optional.of(Arrays.asList(jobs)));
    }

    @Test
    void a_ticket_that_slurm_has_nothing_of_is_submitted_once_nothing_can_arrive() {
        assertThat(TicketReconciler.nextSteps(ticket(TicketState.ACCEPTED, 0, true), accounted()))
                .containsExactly(new Step.Submit());
        assertThat(TicketReconciler.nextSteps(ticket(TicketState.ACCEPTED, 0, false), accounted()))
                .isEmpty();
    }

    @Test
    void without_an_answer_of_accounting_nothing_is_known_to_be_absent() {
        assertThat(TicketReconciler.nextSteps(ticket(TicketState.ACCEPTED, 0, true), seen()))
                .isEmpty();
        assertThat(TicketReconciler.nextSteps(ticket(TicketState.RUNNING, 7, true), seen()))
                .isEmpty();
    }

    @Test
    void a_job_of_its_name_is_adopted_and_a_later_one_cancelled() {
        assertThat(TicketReconciler.nextSteps(
                        ticket(TicketState.ACCEPTED, 0, true),
                        seen(job(9, GlobalJobState.PENDING), job(7, GlobalJobState.PENDING))))
                .containsExactly(new Step.Cancel(List.of(9L)), new Step.Adopt(7));
        assertThat(TicketReconciler.nextSteps(
                        ticket(TicketState.RUNNING, 7, true),
                        seen(job(7, GlobalJobState.RUNNING), job(9, GlobalJobState.PENDING))))
                .containsExactly(new Step.Cancel(List.of(9L)));
    }

    @Test
    void a_job_that_came_and_went_between_two_looks_is_adopted_and_ended() {
        assertThat(TicketReconciler.nextSteps(
                        ticket(TicketState.ACCEPTED, 0, false), seen(job(7, GlobalJobState.COMPLETED))))
                .containsExactly(new Step.Adopt(7), new Step.End(TicketEnd.COMPLETED, ""));
        assertThat(TicketReconciler.nextSteps(
                        ticket(TicketState.ACCEPTED, 0, false), accounted(job(7, GlobalJobState.TIMEOUT))))
                .containsExactly(new Step.Adopt(7), new Step.End(TicketEnd.TIMEOUT, ""));
    }

    @Test
    void nodes_are_assigned_once() {
        GlobalJob running = job(7, GlobalJobState.RUNNING);
        assertThat(TicketReconciler.nextSteps(ticket(TicketState.QUEUED, 7, true), seen(running)))
                .containsExactly(new Step.Assign(running));
        assertThat(TicketReconciler.nextSteps(ticket(TicketState.RUNNING, 7, true), seen(running)))
                .isEmpty();
        assertThat(TicketReconciler.nextSteps(stopped(TicketState.QUEUED, 7, true), seen(running)))
                .containsExactly(new Step.Cancel(List.of(7L)));
    }

    @ParameterizedTest
    @CsvSource({
        "COMPLETED, COMPLETED",
        "FAILED, FAILED",
        "CANCELLED, CANCELLED",
        "TIMEOUT, TIMEOUT",
        "NODE_FAILED, NODE_FAILED",
        "PREEMPTED, PREEMPTED"
    })
    void an_ended_job_ends_its_ticket_as_slurm_says(GlobalJobState state, TicketEnd end) {
        assertThat(TicketReconciler.nextSteps(ticket(TicketState.RUNNING, 7, true), seen(job(7, state))))
                .containsExactly(new Step.End(end, ""));
        assertThat(TicketReconciler.nextSteps(ticket(TicketState.RUNNING, 7, true), accounted(job(7, state))))
                .containsExactly(new Step.End(end, ""));
    }

    @Test
    void a_job_that_ends_is_waited_for() {
        assertThat(TicketReconciler.nextSteps(
                        ticket(TicketState.RUNNING, 7, true), seen(job(7, GlobalJobState.ENDING))))
                .isEmpty();
        assertThat(TicketReconciler.nextSteps(
                        stopped(TicketState.RUNNING, 7, true), seen(job(7, GlobalJobState.ENDING))))
                .isEmpty();
    }

    @Test
    void a_job_of_an_unknown_state_changes_nothing_and_can_be_cancelled() {
        for (TicketState state : List.of(TicketState.QUEUED, TicketState.RUNNING)) {
            assertThat(TicketReconciler.nextSteps(ticket(state, 7, true), seen(job(7, GlobalJobState.UNKNOWN))))
                    .isEmpty();
            assertThat(TicketReconciler.nextSteps(stopped(state, 7, true), seen(job(7, GlobalJobState.UNKNOWN))))
                    .containsExactly(new Step.Cancel(List.of(7L)));
        }
    }

    @Test
    void a_job_that_slurm_and_accounting_do_not_know_any_more_is_lost() {
        assertThat(TicketReconciler.nextSteps(ticket(TicketState.RUNNING, 7, true), accounted()))
                .containsExactly(new Step.End(TicketEnd.LOST, "the Global Slurm no longer knows job 7"));
    }

    @Test
    void a_job_that_goes_on_in_accounting_alone_is_lost() {
        for (GlobalJobState state : List.of(
                GlobalJobState.PENDING, GlobalJobState.UNKNOWN, GlobalJobState.RUNNING, GlobalJobState.ENDING)) {
            assertThat(TicketReconciler.nextSteps(ticket(TicketState.RUNNING, 7, true), accounted(job(7, state))))
                    .containsExactly(new Step.End(TicketEnd.LOST, "the Global Slurm no longer knows job 7"));
            assertThat(TicketReconciler.nextSteps(ticket(TicketState.QUEUED, 7, true), accounted(job(7, state))))
                    .containsExactly(new Step.Submit());
            assertThat(TicketReconciler.nextSteps(stopped(TicketState.QUEUED, 7, true), accounted(job(7, state))))
                    .containsExactly(new Step.End(TicketEnd.WITHDRAWN, "the Global Slurm has no job for the ticket"));
        }
    }

    @Test
    void a_job_without_nodes_that_slurm_lost_is_submitted_again_and_the_next_one_adopted() {
        assertThat(TicketReconciler.nextSteps(ticket(TicketState.QUEUED, 7, true), accounted()))
                .containsExactly(new Step.Submit());
        assertThat(TicketReconciler.nextSteps(ticket(TicketState.QUEUED, 7, false), accounted()))
                .isEmpty();
        assertThat(TicketReconciler.nextSteps(
                        ticket(TicketState.QUEUED, 7, false), seen(job(8, GlobalJobState.PENDING))))
                .containsExactly(new Step.Adopt(8));
        assertThat(TicketReconciler.nextSteps(
                        ticket(TicketState.RUNNING, 7, true), seen(job(8, GlobalJobState.PENDING))))
                .as("it had nodes: no other job is its")
                .containsExactly(new Step.Cancel(List.of(8L)));
    }

    @Test
    void a_withdrawn_ticket_cancels_all_of_its_name_and_ends_when_they_have() {
        assertThat(TicketReconciler.nextSteps(
                        stopped(TicketState.QUEUED, 7, true),
                        seen(job(7, GlobalJobState.PENDING), job(9, GlobalJobState.PENDING))))
                .containsExactly(new Step.Cancel(List.of(7L, 9L)));
        assertThat(TicketReconciler.nextSteps(
                        stopped(TicketState.QUEUED, 7, true), seen(job(7, GlobalJobState.CANCELLED))))
                .containsExactly(new Step.End(TicketEnd.WITHDRAWN, ""));
        assertThat(TicketReconciler.nextSteps(
                        stopped(TicketState.RUNNING, 7, true), seen(job(7, GlobalJobState.COMPLETED))))
                .as("it was faster than the cancellation")
                .containsExactly(new Step.End(TicketEnd.COMPLETED, ""));
    }

    @Test
    void a_withdrawn_ticket_that_slurm_may_still_get_waits_for_that() {
        assertThat(TicketReconciler.nextSteps(stopped(TicketState.ACCEPTED, 0, false), accounted()))
                .isEmpty();
        assertThat(TicketReconciler.nextSteps(stopped(TicketState.ACCEPTED, 0, true), accounted()))
                .containsExactly(new Step.End(TicketEnd.WITHDRAWN, "the Global Slurm has no job for the ticket"));
        assertThat(TicketReconciler.nextSteps(
                        stopped(TicketState.ACCEPTED, 0, false), seen(job(7, GlobalJobState.RUNNING))))
                .containsExactly(new Step.Cancel(List.of(7L)), new Step.Adopt(7));
    }
}
