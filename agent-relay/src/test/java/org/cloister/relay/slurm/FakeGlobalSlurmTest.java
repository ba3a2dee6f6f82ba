package org.cloister.relay.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.cloister.slurm.SlurmUnavailableException;
import org.junit.jupiter.api.Test;

/** The Slurm in memory keeps what the real one keeps. */
class FakeGlobalSlurmTest extends GlobalSlurmContract {
    private final FakeGlobalSlurm slurm = new FakeGlobalSlurm(List.of("h1", "h2"), Set.of("big"), true);

    @Override
    protected GlobalSlurm slurm() {
        return slurm;
    }

    @Override
    protected String account() {
        return "project";
    }

    @Override
    protected void pass() {
        slurm.advance(Duration.ofMillis(100));
    }

    @Override
    protected void endSteps(String ticket, boolean well) throws IOException {
        for (GlobalJob job : of(ticket, slurm.jobs())) {
            slurm.endJob(job.id(), well ? GlobalJobState.COMPLETED : GlobalJobState.FAILED);
        }
    }

    @Override
    protected void breakNode(String node) {
        slurm.fail(node);
    }

    @Override
    protected void repair(String node) {
        slurm.repair(node);
    }

    @Override
    protected void stopAnswering() {
        slurm.answer(false);
    }

    @Override
    protected void answerAgain() {
        slurm.answer(true);
    }

    @Test
    void a_job_ends_when_its_time_is_up_and_is_forgotten_later_but_by_accounting() throws IOException {
        String ticket = ticket();
        slurm.submit(submission(ticket, 1, false, 10));
        slurm.advance(Duration.ofMinutes(5).plusSeconds(1));
        assertThat(of(ticket, slurm.jobs())).extracting(GlobalJob::state).containsExactly(GlobalJobState.TIMEOUT);
        slurm.advance(Duration.ofSeconds(301));
        assertThat(of(ticket, slurm.jobs())).isEmpty();
        assertThat(slurm.accounted(List.of(ticket)))
                .extracting(GlobalJob::state)
                .containsExactly(GlobalJobState.TIMEOUT);
    }

    @Test
    void a_late_answer_leaves_a_job_behind() throws IOException {
        String ticket = ticket();
        slurm.answerLate(1);
        assertThatThrownBy(() -> slurm.submit(submission(ticket, 1, false, 10)))
                .isInstanceOf(SlurmUnavailableException.class);
        assertThat(of(ticket, slurm.jobs())).hasSize(1);
        assertThat(slurm.submissions()).isEqualTo(1);
    }
}
