package org.cloister.host.resources;

import java.io.IOException;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.libvirt.Hypervisor;
import org.cloister.host.slurmstep.StepCgroup;

/** Entry of a paused domain into its job's step: the move of its process, and the CPUs of its guest there. */
record StepEntry(DomainProcesses processes, Hypervisor hypervisor) {
    /**
     * Moves the domain. The emulator's other threads may use each CPU of the step, as its cpuset has them.
     *
     * @throws IOException if the process is not completely in the step afterwards, or a CPU is not pinned
     */
    void enter(StepCgroup step, DomainSpec domain) throws IOException {
        processes.enter(step, domain.owner());
        hypervisor.pinCpus(domain.owner().uuid(), domain.cpus());
    }
}
