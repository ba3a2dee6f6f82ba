package org.cloister.host.daemon;

import org.cloister.host.control.VmRunPhase;
import org.cloister.host.control.VmRunResult;
import org.cloister.host.control.VmRunResult.Code;
import org.cloister.host.libvirt.HypervisorUnavailable;
import org.cloister.host.reconcile.VmBuildFailed;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.scratch.ScratchSpaceExhausted;
import org.cloister.host.slurmstep.JobStepEnded;

/** Maps the end of a VM in the ledger to the result that its job step receives. */
final class VmRunResultMapping {
    /** Text of QEMU's error for a file that another QEMU has open. */
    private static final String LOCKED = "Failed to get \"write\" lock";

    private VmRunResultMapping() {}

    /**
     * Returns the result of a VM that was not built, by the cause of the failure.
     *
     * @param reached the last phase that was reached
     */
    static VmRunResult of(VmBuildFailed failure, VmRunPhase reached) {
        Throwable cause = failure.getCause();
        String text = String.valueOf((cause == null ? failure : cause).getMessage());
        VmRunPhase phase = VmRunPhase.of(failure.step()).orElse(reached);
        if (cause instanceof JobStepEnded) {
            return new VmRunResult(Code.STOPPED, phase, text, "");
        }
        if (cause instanceof HypervisorUnavailable) {
            return new VmRunResult(Code.UNAVAILABLE, phase, text, "see agentctl host status on this host");
        }
        if (cause instanceof ScratchSpaceExhausted full && full.isBudgetExceeded()) {
            return new VmRunResult(Code.UNAVAILABLE, phase, text, "ask for less scratch, or wait for other VMs to end");
        }
        if (text.contains(LOCKED)) {
            // The disk is open in a VM whose agent-host is dead, usually on another host.
            return new VmRunResult(Code.UNAVAILABLE, phase, text, "end the VM that still writes to this drive");
        }
        return new VmRunResult(Code.HOST, phase, text, "see agent-host's log on this host");
    }

    /**
     * Returns the result of a VM that has ended.
     *
     * @param phase the last that the VM reached
     */
    static VmRunResult of(VmTermination end, VmRunPhase phase) {
        boolean spoke = phase.compareTo(VmRunPhase.REGISTERED) >= 0;
        return switch (end.why()) {
            case ASKED -> new VmRunResult(Code.STOPPED, phase, "it was asked to end", "");
            case STEP_GONE ->
                new VmRunResult(Code.STOPPED, phase, "its job's step has ended, or it was taken out of it", "");
            case DOMAIN_GONE ->
                spoke
                        ? new VmRunResult(Code.DONE, phase, "the guest has ended", "")
                        : new VmRunResult(
                                Code.GUEST,
                                phase,
                                "the guest has ended before it spoke",
                                "see libvirt's log of the domain, and try the image with lab/guest");
            case DIED ->
                new VmRunResult(
                        Code.GUEST,
                        phase,
                        "its QEMU crashed, or was killed",
                        "see libvirt's log of the domain and this host's kernel log, as for a lack of memory");
            case STOPPED ->
                new VmRunResult(
                        Code.HOST,
                        phase,
                        "its CPUs stood still, as after an error of its disk",
                        "look at the file system of the scratch folder");
            case LOST ->
                new VmRunResult(
                        Code.HOST,
                        phase,
                        "its " + end.at() + " was taken away",
                        "look who changes this host besides us");
            case NOT_REGISTERED ->
                new VmRunResult(
                        Code.GUEST,
                        phase,
                        "the guest did not speak in time",
                        "raise times.register where machines are slow, or look at the image");
            case INTERRUPTED -> new VmRunResult(Code.UNAVAILABLE, phase, "agent-host was restarted amid its start", "");
            case FAILED ->
                new VmRunResult(
                        Code.HOST, phase, "its step " + end.at() + " failed", "see agent-host's log on this host");
            case DRIVE_TAKEN -> new VmRunResult(Code.STOPPED, phase, "its drive was taken by a later opening", "");
            case DRIVE_SILENT ->
                new VmRunResult(
                        Code.UNAVAILABLE,
                        phase,
                        "the storage of its drive gave no answer, and who writes to the drive was not known",
                        "look at the folder vm.drives on this host");
            case ORPHAN -> new VmRunResult(Code.HOST, phase, "nothing was known of it", "see agentctl host ledger");
        };
    }
}
