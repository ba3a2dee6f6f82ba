package org.cloister.vm.controller.slurm;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.cloister.slurm.SlurmUnavailableException;
import org.junit.jupiter.api.Test;

/** The Slurm in memory keeps what the real one keeps. */
class FakeLocalSlurmTest extends LocalSlurmContract {
    private final FakeLocalSlurm slurm = new FakeLocalSlurm();

    @Override
    protected LocalSlurm slurm() {
        return slurm;
    }

    @Override
    protected LocalSlurmJobId submit(JobRequirements requirements, String... options) {
        return slurm.submit(requirements, options);
    }

    @Override
    protected List<LocalSlurmJobId> submitSet(JobRequirements... requirementsOfSet) {
        return slurm.submitSet(requirementsOfSet);
    }

    @Override
    protected void startNodes(String ticket, int nodes, int cpus, int memoryMib) {
        for (int slot = 0; slot < nodes; slot++) {
            slurm.join("vm-" + ticket.substring(0, 8) + "-" + slot, ticket, cpus, memoryMib);
        }
    }

    @Override
    protected void stopNodes() {
        // Removed from Slurm, nothing is left of them here.
    }

    @Override
    protected void pass(Duration time) {
        slurm.advance(time);
    }

    @Override
    protected void release(LocalSlurmJobId job) throws IOException {
        slurm.release(job);
    }

    @Override
    protected void cancel(LocalSlurmJobId job) throws IOException {
        slurm.endJob(job);
    }

    @Override
    protected void requeue(LocalSlurmJobId job) throws IOException {
        slurm.requeue(job);
    }

    @Override
    protected String accounted(LocalSlurmJobId job) {
        return slurm.accounted(job);
    }

    @Test
    void without_an_answer_nothing_is_said() {
        slurm.answer(false);
        assertThatThrownBy(slurm::jobs).isInstanceOf(SlurmUnavailableException.class);
        assertThatThrownBy(slurm::nodes).isInstanceOf(SlurmUnavailableException.class);
        assertThatThrownBy(() -> slurm.holdJob(new LocalSlurmJobId("1"))).isInstanceOf(SlurmUnavailableException.class);
        assertThatThrownBy(() -> slurm.setAdminComment(new LocalSlurmJobId("1"), "x"))
                .isInstanceOf(SlurmUnavailableException.class);
        assertThatThrownBy(() -> slurm.deleteNode("n")).isInstanceOf(SlurmUnavailableException.class);
        slurm.answer(true);
    }
}
