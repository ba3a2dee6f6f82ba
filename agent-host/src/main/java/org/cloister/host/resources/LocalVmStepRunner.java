package org.cloister.host.resources;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmStepRunner;
import org.cloister.host.slurmstep.JobStepEnded;
import org.cloister.host.slurmstep.StepCgroup;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.handover.AssignmentMessage;

/** Creates one VM from its plan, for the job step that requested it. Not thread-safe. */
public final class LocalVmStepRunner implements VmStepRunner {
    private final ResourceProviders providers;
    private final VmPlan plan;
    private final AssignmentMessage.Assigned assignment;
    private final StepCgroup step;

    /**
     * @param assignment that the VM will receive
     * @throws IllegalArgumentException if the step belongs to another job than the VM
     */
    public LocalVmStepRunner(
            ResourceProviders providers, VmPlan plan, AssignmentMessage.Assigned assignment, StepCgroup step) {
        if (step.job() != plan.owner().globalJob()) {
            throw new IllegalArgumentException(
                    "step: want one of job " + plan.owner().globalJob() + ", have " + step.step());
        }
        this.providers = providers;
        this.plan = plan;
        this.assignment = assignment;
        this.step = step;
    }

    @Override
    public boolean isFree(VmStartStep next) throws IOException {
        ResourceOwner owner = plan.owner();
        return switch (next) {
            case OVERLAY -> providers.folders().isFree(owner);
            case SCRATCH -> !Files.exists(providers.scratch().file(owner), LinkOption.NOFOLLOW_LINKS);
            case TAP -> providers.taps().isFree(owner);
            case PORT -> providers.ports().isFree(owner);
            case DOMAIN_PAUSED -> providers.processes().isFree(owner);
            default -> true;
        };
    }

    @Override
    public void run(VmStartStep next) throws IOException {
        ResourceOwner owner = plan.owner();
        switch (next) {
            case OVERLAY -> providers.folders().make(plan, assignment);
            case SCRATCH -> providers.scratch().make(owner, plan.scratchBytes().orElseThrow());
            case TAP -> providers.taps().make(owner, plan.domain().cpus().queues(), plan.mtu());
            case PORT -> providers.ports().add(plan);
            case DOMAIN_PAUSED -> providers.hypervisor().startPaused(plan.domain());
            case MOVED -> new StepEntry(providers.processes(), providers.hypervisor()).enter(step, plan.domain());
            case RUNNING -> run();
            default -> throw new IllegalArgumentException("step: want one to make, have " + next);
        }
    }

    /** Resumes the guest. Rejects a step that has ended since, as its end would no longer stop the VM. */
    private void run() throws IOException {
        if (!step.contains(providers.processes().running(plan.owner()))) {
            throw new JobStepEnded("VM " + plan.owner().uuid() + ": step " + step.step()
                    + " has ended, and its process is no longer there");
        }
        providers.hypervisor().resume(plan.owner().uuid());
    }
}
