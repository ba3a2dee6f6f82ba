package org.cloister.vm.slurm;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.cloister.slurm.SlurmUnavailable;
import org.junit.jupiter.api.Test;

/** The Slurm in memory keeps what the real one keeps. */
class FakeLocalSlurmTest extends LocalSlurmContract {
    private final FakeLocalSlurm slurm = new FakeLocalSlurm();

    @Override
    protected LocalSlurm slurm() {
        return slurm;
    }

    @Override
    protected JobId submit(Demand demand, String... options) {
        return slurm.submit(demand, options);
    }

    @Override
    protected List<JobId> submitSet(Demand... demands) {
        return slurm.submitSet(demands);
    }

    @Override
    protected void bring(String ticket, int nodes, int cpus, int memoryMib) {
        for (int slot = 0; slot < nodes; slot++) {
            slurm.join("vm-" + ticket.substring(0, 8) + "-" + slot, ticket, cpus, memoryMib);
        }
    }

    @Override
    protected void endNodes() {
        // Removed from Slurm, nothing is left of them here.
    }

    @Override
    protected void pass(Duration time) {
        slurm.advance(time);
    }

    @Override
    protected void release(JobId job) throws IOException {
        slurm.release(job);
    }

    @Override
    protected void cancel(JobId job) throws IOException {
        slurm.end(job);
    }

    @Override
    protected void requeue(JobId job) throws IOException {
        slurm.requeue(job);
    }

    @Override
    protected String accounted(JobId job) {
        return slurm.accounted(job);
    }

    @Test
    void without_an_answer_nothing_is_said() {
        slurm.answer(false);
        assertThatThrownBy(slurm::jobs).isInstanceOf(SlurmUnavailable.class);
        assertThatThrownBy(slurm::nodes).isInstanceOf(SlurmUnavailable.class);
        assertThatThrownBy(() -> slurm.hold(new JobId("1"))).isInstanceOf(SlurmUnavailable.class);
        assertThatThrownBy(() -> slurm.comment(new JobId("1"), "x")).isInstanceOf(SlurmUnavailable.class);
        assertThatThrownBy(() -> slurm.remove("n")).isInstanceOf(SlurmUnavailable.class);
        slurm.answer(true);
    }
}
