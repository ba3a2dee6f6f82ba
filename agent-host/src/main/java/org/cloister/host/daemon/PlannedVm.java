package org.cloister.host.daemon;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import org.cloister.host.drive.DriveClaim;
import org.cloister.host.plan.ControllerVmPlanner;
import org.cloister.host.plan.GuestImage;
import org.cloister.host.plan.HostVmDefaults;
import org.cloister.host.plan.WorkerVmPlanner;
import org.cloister.host.receipts.StatementStepRunner;
import org.cloister.host.reconcile.VmStepRunner;
import org.cloister.host.resources.LocalVmStepRunner;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.slurmstep.StepCgroup;
import org.cloister.host.tickets.VerifiedClaim;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.handover.AssignmentMessage;

/** A VM before anything of it is made: what was signed, and what this host has for it. */
record PlannedVm(
        VmRunContext context,
        VerifiedClaim claim,
        ResourceOwner owner,
        StepCgroup step,
        GuestImage image,
        HostVmDefaults terms) {
    VmPlan planWorker() throws IOException {
        return WorkerVmPlanner.plan(
                new WorkerVmPlanner.SignedInputs(claim.signed().request(), claim.allocation(), claim.slot()),
                owner,
                step.allocation(),
                image,
                terms,
                new WorkerVmPlanner.VmPaths(
                        folder(), context.resources().scratch().file(owner)));
    }

    VmPlan planController(DriveClaim use, Path drive) throws IOException {
        return ControllerVmPlanner.plan(
                new ControllerVmPlanner.SignedInputs(use, claim.allocation(), claim.slot()),
                owner,
                step.allocation(),
                image,
                terms,
                new ControllerVmPlanner.VmPaths(folder(), drive));
    }

    /** What it is told that it is. */
    private AssignmentMessage.Assigned assignment(VmPlan plan) {
        return new AssignmentMessage.Assigned(
                ChannelPlanner.name(plan),
                owner.ticket(),
                owner.slot(),
                claim.signed().signer().name(),
                claim.project().envelopes().stream().map(ByteString::copyFrom).toList());
    }

    private Path folder() {
        return context.resources().folders().folder(owner);
    }

    /** Controlling VMs are in no receipt: {@link org.cloister.host.receipts.HostStatements} keeps nothing of them. */
    VmStepRunner stepRunner(VmPlan plan) {
        return new StatementStepRunner(
                new LocalVmStepRunner(context.resources(), plan, assignment(plan), step),
                context.statements(),
                plan,
                claim.signed().digest());
    }
}
