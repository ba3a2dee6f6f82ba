package org.cloister.host.resources;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.cloister.host.domain.DomainSamples;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.libvirt.FakeHypervisor;
import org.cloister.host.slurmstep.CgroupAttacher;
import org.cloister.host.slurmstep.StepCgroup;
import org.cloister.host.slurmstep.StepCgroupSamples;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StepEntryTest {
    private static final long QEMU = 9;

    @TempDir
    private Path folder;

    private final FakeHypervisor hypervisor = new FakeHypervisor();

    private void enter(DomainSpec domain, CgroupAttacher attacher) throws IOException {
        hypervisor.startPaused(domain);
        Files.writeString(folder.resolve(domain.owner().names().domain() + ".pid"), Long.toString(QEMU));
        StepCgroup step = StepCgroupSamples.with(folder, QEMU);
        DomainProcesses processes = new DomainProcesses(folder, attacher, sluid -> {
            throw new AssertionError(sluid);
        });
        new StepEntry(processes, hypervisor).enter(step, domain);
    }

    /** Before that, a kernel before 6.2 forgets it. */
    @Test
    void cpus_are_pinned_when_the_process_has_entered_its_step() throws IOException {
        DomainSpec domain = DomainSamples.sample("worker-kvm");
        enter(domain, (name, pid, caller, folders) -> {
            assertThat(pid).isEqualTo(QEMU);
            assertThat(hypervisor.pinned(domain.owner().uuid())).isEmpty();
        });
        assertThat(hypervisor.pinned(domain.owner().uuid())).contains(domain.cpus());
    }

    @Test
    void cpus_of_a_process_outside_its_step_are_not_pinned() throws IOException {
        DomainSpec domain = DomainSamples.sample("worker-kvm");
        assertThatThrownBy(() -> enter(domain, (name, pid, caller, folders) -> {
                    throw new IOException("no cgroup");
                }))
                .hasMessageContaining("no cgroup");
        assertThat(hypervisor.pinned(domain.owner().uuid())).isEmpty();
    }
}
