package org.cloister.host.run;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import org.cloister.host.drive.DriveUse;
import org.cloister.host.ledger.Maker;
import org.cloister.host.machine.VmMaker;
import org.cloister.host.machine.VmPlan;
import org.cloister.host.plan.ControllerPlan;
import org.cloister.host.plan.GuestImage;
import org.cloister.host.plan.HostTerms;
import org.cloister.host.plan.WorkerPlan;
import org.cloister.host.receipt.PartMaker;
import org.cloister.host.step.StepCgroup;
import org.cloister.host.ticket.Assigned;
import org.cloister.host.vm.VmOwner;
import org.cloister.protocol.handover.AssignmentMessage;

/** A VM before anything of it is made: what was signed, and what this host has for it. */
record PlannedVm(RunParts parts, Assigned assigned, VmOwner owner, StepCgroup step, GuestImage image, HostTerms terms) {
    VmPlan worker() throws IOException {
        return WorkerPlan.of(
                new WorkerPlan.Asked(assigned.signed().request(), assigned.allocation(), assigned.slot()),
                owner,
                step.allotment(),
                image,
                terms,
                new WorkerPlan.Places(folder(), parts.host().scratch().file(owner)));
    }

    VmPlan controller(DriveUse use, Path drive) throws IOException {
        return ControllerPlan.of(
                new ControllerPlan.Asked(use, assigned.allocation(), assigned.slot()),
                owner,
                step.allotment(),
                image,
                terms,
                new ControllerPlan.Places(folder(), drive));
    }

    /** What it is told that it is. */
    private AssignmentMessage.Told assignment(VmPlan plan) {
        return new AssignmentMessage.Told(
                ChannelPlans.name(plan),
                owner.ticket(),
                owner.slot(),
                assigned.signed().signer().name(),
                assigned.project().envelopes().stream()
                        .map(ByteString::copyFrom)
                        .toList());
    }

    private Path folder() {
        return parts.host().folders().folder(owner);
    }

    /** Controlling VMs are in no receipt: {@link org.cloister.host.receipt.Parts} keeps nothing of them. */
    Maker maker(VmPlan plan) {
        return new PartMaker(
                new VmMaker(parts.host(), plan, assignment(plan), step),
                parts.receipts(),
                plan,
                assigned.signed().digest());
    }
}
