package org.cloister.relay.ticket;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.slurm.Job;
import org.cloister.relay.slurm.JobState;
import org.cloister.relay.ticket.Course.Step;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CourseTest {
    private static final String ID = "aaaaaaaaaaaaaaaaaaaaaaaaaa";

    private static Job job(long id, JobState state) {
        return new Job(id, ID, state, "", List.of());
    }

    private static Course.Ticket ticket(TicketState state, long job, boolean settled) {
        return new Course.Ticket(state, job, Optional.empty(), settled);
    }

    private static Course.Ticket stopped(TicketState state, long job, boolean settled) {
        return new Course.Ticket(state, job, Optional.of(TicketEnd.WITHDRAWN), settled);
    }

    private static Course.Answer seen(Job... jobs) {
        return new Course.Answer(Arrays.asList(jobs), Optional.empty());
    }

    private static Course.Answer accounted(Job... jobs) {
        return new Course.Answer(List.of(), Optional.of(Arrays.asList(jobs)));
    }

    @Test
    void a_ticket_that_slurm_has_nothing_of_is_submitted_once_nothing_can_arrive() {
        assertThat(Course.next(ticket(TicketState.ACCEPTED, 0, true), accounted()))
                .containsExactly(new Step.Submit());
        assertThat(Course.next(ticket(TicketState.ACCEPTED, 0, false), accounted()))
                .isEmpty();
    }

    @Test
    void without_an_answer_of_accounting_nothing_is_known_to_be_absent() {
        assertThat(Course.next(ticket(TicketState.ACCEPTED, 0, true), seen())).isEmpty();
        assertThat(Course.next(ticket(TicketState.RUNNING, 7, true), seen())).isEmpty();
    }

    @Test
    void a_job_of_its_name_is_adopted_and_a_later_one_cancelled() {
        assertThat(Course.next(
                        ticket(TicketState.ACCEPTED, 0, true),
                        seen(job(9, JobState.PENDING), job(7, JobState.PENDING))))
                .containsExactly(new Step.Cancel(List.of(9L)), new Step.Adopt(7));
        assertThat(Course.next(
                        ticket(TicketState.RUNNING, 7, true), seen(job(7, JobState.RUNNING), job(9, JobState.PENDING))))
                .containsExactly(new Step.Cancel(List.of(9L)));
    }

    @Test
    void a_job_that_came_and_went_between_two_looks_is_adopted_and_ended() {
        assertThat(Course.next(ticket(TicketState.ACCEPTED, 0, false), seen(job(7, JobState.COMPLETED))))
                .containsExactly(new Step.Adopt(7), new Step.End(TicketEnd.COMPLETED, ""));
        assertThat(Course.next(ticket(TicketState.ACCEPTED, 0, false), accounted(job(7, JobState.TIMEOUT))))
                .containsExactly(new Step.Adopt(7), new Step.End(TicketEnd.TIMEOUT, ""));
    }

    @Test
    void nodes_are_assigned_once() {
        Job running = job(7, JobState.RUNNING);
        assertThat(Course.next(ticket(TicketState.QUEUED, 7, true), seen(running)))
                .containsExactly(new Step.Assign(running));
        assertThat(Course.next(ticket(TicketState.RUNNING, 7, true), seen(running)))
                .isEmpty();
        assertThat(Course.next(stopped(TicketState.QUEUED, 7, true), seen(running)))
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
    void an_ended_job_ends_its_ticket_as_slurm_says(JobState state, TicketEnd end) {
        assertThat(Course.next(ticket(TicketState.RUNNING, 7, true), seen(job(7, state))))
                .containsExactly(new Step.End(end, ""));
        assertThat(Course.next(ticket(TicketState.RUNNING, 7, true), accounted(job(7, state))))
                .containsExactly(new Step.End(end, ""));
    }

    @Test
    void a_job_that_ends_is_waited_for() {
        assertThat(Course.next(ticket(TicketState.RUNNING, 7, true), seen(job(7, JobState.ENDING))))
                .isEmpty();
        assertThat(Course.next(stopped(TicketState.RUNNING, 7, true), seen(job(7, JobState.ENDING))))
                .isEmpty();
    }

    @Test
    void a_job_that_slurm_and_accounting_do_not_know_any_more_is_lost() {
        assertThat(Course.next(ticket(TicketState.RUNNING, 7, true), accounted()))
                .containsExactly(new Step.End(TicketEnd.LOST, "Global Slurm does not know job 7 any more"));
    }

    @Test
    void a_job_that_goes_on_in_accounting_alone_is_lost() {
        for (JobState state : List.of(JobState.PENDING, JobState.RUNNING, JobState.ENDING)) {
            assertThat(Course.next(ticket(TicketState.RUNNING, 7, true), accounted(job(7, state))))
                    .containsExactly(new Step.End(TicketEnd.LOST, "Global Slurm does not know job 7 any more"));
            assertThat(Course.next(ticket(TicketState.QUEUED, 7, true), accounted(job(7, state))))
                    .containsExactly(new Step.Submit());
            assertThat(Course.next(stopped(TicketState.QUEUED, 7, true), accounted(job(7, state))))
                    .containsExactly(new Step.End(TicketEnd.WITHDRAWN, "Global Slurm has no job for it"));
        }
    }

    @Test
    void a_job_without_nodes_that_slurm_lost_is_submitted_again_and_the_next_one_adopted() {
        assertThat(Course.next(ticket(TicketState.QUEUED, 7, true), accounted()))
                .containsExactly(new Step.Submit());
        assertThat(Course.next(ticket(TicketState.QUEUED, 7, false), accounted()))
                .isEmpty();
        assertThat(Course.next(ticket(TicketState.QUEUED, 7, false), seen(job(8, JobState.PENDING))))
                .containsExactly(new Step.Adopt(8));
        assertThat(Course.next(ticket(TicketState.RUNNING, 7, true), seen(job(8, JobState.PENDING))))
                .as("it had nodes: no other job is its")
                .containsExactly(new Step.Cancel(List.of(8L)));
    }

    @Test
    void a_withdrawn_ticket_cancels_all_of_its_name_and_ends_when_they_have() {
        assertThat(Course.next(
                        stopped(TicketState.QUEUED, 7, true), seen(job(7, JobState.PENDING), job(9, JobState.PENDING))))
                .containsExactly(new Step.Cancel(List.of(7L, 9L)));
        assertThat(Course.next(stopped(TicketState.QUEUED, 7, true), seen(job(7, JobState.CANCELLED))))
                .containsExactly(new Step.End(TicketEnd.WITHDRAWN, ""));
        assertThat(Course.next(stopped(TicketState.RUNNING, 7, true), seen(job(7, JobState.COMPLETED))))
                .as("it was faster than the cancellation")
                .containsExactly(new Step.End(TicketEnd.COMPLETED, ""));
    }

    @Test
    void a_withdrawn_ticket_that_slurm_may_still_get_waits_for_that() {
        assertThat(Course.next(stopped(TicketState.ACCEPTED, 0, false), accounted()))
                .isEmpty();
        assertThat(Course.next(stopped(TicketState.ACCEPTED, 0, true), accounted()))
                .containsExactly(new Step.End(TicketEnd.WITHDRAWN, "Global Slurm has no job for it"));
        assertThat(Course.next(stopped(TicketState.ACCEPTED, 0, false), seen(job(7, JobState.RUNNING))))
                .containsExactly(new Step.Cancel(List.of(7L)), new Step.Adopt(7));
    }
}
