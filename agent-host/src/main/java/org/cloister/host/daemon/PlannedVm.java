package org.cloister.host.daemon;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import org.cloister.host.drive.DriveClaim;
import org.cloister.host.plan.ControllerVmPlanner;
import org.cloister.host.plan.GuestImage;
import org.cloister.host.plan.HostVmDefaults;
import org.cloister.host.plan.WorkerVmPlanner;
import org.cloister.host.receipts.HostStatements;
import org.cloister.host.receipts.StatementStepRunner;
import org.cloister.host.reconcile.VmStepRunner;
import org.cloister.host.resources.LocalVmStepRunner;
import org.cloister.host.resources.ResourceProviders;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.slurmstep.StepCgroup;
import org.cloister.host.tickets.VerifiedClaim;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.handover.AssignmentMessage;

/**
 * Inputs of a VM's plan, collected before any of its resources exists: the verified claim and the host's image and
 * defaults.
 */
record PlannedVm(
        ResourceProviders resources,
        HostStatements statements,
        VerifiedClaim claim,
        ResourceOwner owner,
        StepCgroup step,
        GuestImage image,
        HostVmDefaults defaults) {
    VmPlan planWorker() throws IOException {
        return WorkerVmPlanner.plan(
                new WorkerVmPlanner.SignedInputs(claim.signed().request(), claim.allocation(), claim.slot()),
                owner,
                step.allocation(),
                image,
                defaults,
                new WorkerVmPlanner.VmPaths(folder(), resources.scratch().file(owner)));
    }

    VmPlan planController(DriveClaim use, Path drive) throws IOException {
        return ControllerVmPlanner.plan(
                new ControllerVmPlanner.SignedInputs(use, claim.allocation(), claim.slot()),
                owner,
                step.allocation(),
                image,
                defaults,
                new ControllerVmPlanner.VmPaths(folder(), drive));
    }

    /** Returns the assignment that the VM receives from its host. */
    private AssignmentMessage.Assigned assignment(VmPlan plan) {
        return new AssignmentMessage.Assigned(
                ChannelPlanner.name(plan),
                owner.ticket(),
                owner.slot(),
                claim.signed().signer().name(),
                claim.project().envelopes().stream().map(ByteString::copyFrom).toList());
    }

    private Path folder() {
        return resources.folders().folder(owner);
    }

    /**
     * Returns the runner that creates the VM. It also wraps controlling VMs, for which {@link HostStatements} records
     * nothing, as they are in no receipt.
     */
    VmStepRunner stepRunner(VmPlan plan) {
        return new StatementStepRunner(
                new LocalVmStepRunner(resources, plan, assignment(plan), step),
                statements,
                plan,
                claim.signed().digest());
    }
}
