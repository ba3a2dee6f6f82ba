package org.cloister.host.daemon;

import java.io.IOException;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import org.cloister.host.control.JobStepCaller;
import org.cloister.host.control.VmRunPhase;
import org.cloister.host.plan.GuestImage;
import org.cloister.host.plan.GuestImages;
import org.cloister.host.plan.HostVmDefaults;
import org.cloister.host.receipts.HostStatements;
import org.cloister.host.resources.ResourceProviders;
import org.cloister.host.slurmstep.StepCgroup;
import org.cloister.host.slurmstep.TicketJobs;
import org.cloister.host.tickets.TicketClaims;
import org.cloister.host.tickets.VerifiedClaim;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;

/** Confirms that a job step may have a VM and collects the inputs of the VM's plan. Creates nothing on this host. */
final class VmPreparation {
    private final TicketJobs jobs;
    private final HostPreflight preflight;
    private final HostReadiness readiness;
    private final TicketClaims claims;
    private final GuestImages images;
    private final ResourceProviders resources;
    private final HostStatements statements;

    VmPreparation(
            TicketJobs jobs,
            HostPreflight preflight,
            HostReadiness readiness,
            TicketClaims claims,
            GuestImages images,
            ResourceProviders resources,
            HostStatements statements) {
        this.jobs = jobs;
        this.preflight = preflight;
        this.readiness = readiness;
        this.claims = claims;
        this.images = images;
        this.resources = resources;
        this.statements = statements;
    }

    /**
     * Prepares the VM of a ticket.
     *
     * @param phases receives each phase when it is done
     */
    PlannedVm prepare(JobStepCaller caller, String ticket, Consumer<VmRunPhase> phases)
            throws IOException, InterruptedException {
        if (!jobs.isTicketJob(caller.job(), ticket)) {
            throw new StartFailed(
                    VmRunCode.REFUSED,
                    "job " + caller.job() + " is not a running job of the service account on this host for ticket "
                            + ticket,
                    "only jobs that agent-relay submits may run VMs");
        }
        HostVmDefaults defaults = preflight.defaults();
        Optional<String> unfit = readiness.unfit();
        if (unfit.isPresent()) {
            throw new IOException("this host accepts no work: " + unfit.get());
        }
        phases.accept(VmRunPhase.JOB);
        VerifiedClaim claim = claims.claim(ticket, caller.job());
        phases.accept(VmRunPhase.TICKET);
        GuestImage image = images.current();
        phases.accept(VmRunPhase.IMAGE);
        StepCgroup step = StepCgroup.of(caller.pid(), jobs);
        ResourceOwner owner = new ResourceOwner(
                claim.allocation().project(),
                ticket,
                claim.slot().slot(),
                step.job(),
                UUID.randomUUID().toString());
        return new PlannedVm(resources, statements, claim, owner, step, image, defaults);
    }
}
