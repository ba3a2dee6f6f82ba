package org.cloister.host.daemon;

import java.io.IOException;
import org.cloister.host.control.VmRunPhase;
import org.cloister.host.control.VmRunResult;
import org.cloister.host.libvirt.HypervisorUnavailable;
import org.cloister.host.reconcile.VmBuildFailed;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefusedException;
import org.cloister.slurm.SlurmUnavailableException;

/** Maps the end of a VM in the ledger to the result that its job step receives. */
final class VmRunResultMapping {
    /** Text of QEMU's error for a file that another QEMU has open. */
    private static final String LOCKED = "Failed to get \"write\" lock";

    private VmRunResultMapping() {}

    /** Returns the failure of a start as the job step receives it. */
    static StartFailed startFailed(IOException cause) {
        String text = String.valueOf(cause.getMessage());
        if (cause instanceof StartFailed failed) {
            return failed;
        }
        if (cause instanceof TicketRefusedException refused) {
            boolean unavailable = refused.clause() == TicketClause.UNAVAILABLE;
            return new StartFailed(unavailable ? VmRunCode.UNAVAILABLE : VmRunCode.REFUSED, text, "", cause);
        }
        if (cause instanceof SlurmUnavailableException) {
            return new StartFailed(VmRunCode.UNAVAILABLE, text, "run scontrol ping on this host", cause);
        }
        if (cause instanceof HypervisorUnavailable) {
            return new StartFailed(VmRunCode.UNAVAILABLE, text, "see agentctl host status on this host", cause);
        }
        if (text.contains(LOCKED)) {
            // The disk is open in a VM whose agent-host is dead, usually on another host.
            return new StartFailed(VmRunCode.UNAVAILABLE, text, "stop the VM that still writes to this drive", cause);
        }
        return new StartFailed(VmRunCode.HOST, text, "see agent-host's log on this host", cause);
    }

    /** @param phase the last phase that was reached */
    static VmRunResult of(StartFailed failed, VmRunPhase phase) {
        return new VmRunResult(failed.code(), phase, failed.text(), failed.hint());
    }

    /**
     * Returns the result of a VM that was not built, by the cause of the failure.
     *
     * @param reached the last phase that was reached
     */
    static VmRunResult of(VmBuildFailed failure, VmRunPhase reached) {
        IOException cause = failure.getCause() instanceof IOException io ? io : new IOException(failure.getMessage());
        return of(startFailed(cause), VmRunPhase.of(failure.step()).orElse(reached));
    }

    /**
     * Returns the result of a VM that has ended.
     *
     * @param phase the last that the VM reached
     */
    static VmRunResult of(VmTermination end, VmRunPhase phase) {
        return switch (end.why()) {
            case ASKED -> new VmRunResult(VmRunCode.STOPPED, phase, "the VM was stopped on request", "");
            case STEP_GONE ->
                new VmRunResult(
                        VmRunCode.STOPPED, phase, "the VM's job step has ended, or the VM was moved out of it", "");
            case DOMAIN_GONE -> poweredOff(phase);
            case DIED ->
                new VmRunResult(
                        VmRunCode.GUEST,
                        phase,
                        "the VM's QEMU crashed or was killed",
                        "see libvirt's log of the domain, and this host's kernel log for a lack of memory");
            case STOPPED ->
                new VmRunResult(
                        VmRunCode.HOST,
                        phase,
                        "libvirt paused the VM, as after an error of its disk",
                        "check the file system of the scratch folder");
            case LOST ->
                new VmRunResult(
                        VmRunCode.HOST,
                        phase,
                        "another program removed the VM's " + end.at(),
                        "find out what else changes this host");
            case NOT_REGISTERED ->
                new VmRunResult(
                        VmRunCode.GUEST,
                        phase,
                        "the guest did not register in time",
                        "raise times.register where machines are slow, or check the image");
            case UNRESPONSIVE ->
                new VmRunResult(
                        VmRunCode.GUEST,
                        phase,
                        "the guest's agent had no session with this host for too long",
                        "raise times.unresponsive where jobs are suspended or hosts overloaded, or check the guest");
            case INTERRUPTED ->
                new VmRunResult(VmRunCode.UNAVAILABLE, phase, "agent-host was restarted during the VM's start", "");
            case FAILED ->
                new VmRunResult(
                        VmRunCode.HOST,
                        phase,
                        "step " + end.at() + " of the VM's start failed",
                        "see agent-host's log on this host");
            case DRIVE_TAKEN ->
                new VmRunResult(VmRunCode.STOPPED, phase, "a later opening acquired the VM's drive", "");
            case DRIVE_SILENT ->
                new VmRunResult(
                        VmRunCode.UNAVAILABLE,
                        phase,
                        "the storage of the VM's drive did not answer, so another host may write to the drive",
                        "check the folder vm.drives on this host");
            case ORPHAN ->
                new VmRunResult(
                        VmRunCode.HOST, phase, "agent-host has no record of the VM", "see agentctl host ledger");
        };
    }

    private static VmRunResult poweredOff(VmRunPhase phase) {
        return phase.compareTo(VmRunPhase.REGISTERED) >= 0
                ? new VmRunResult(VmRunCode.DONE, phase, "the guest powered off", "")
                : new VmRunResult(
                        VmRunCode.GUEST,
                        phase,
                        "the guest powered off before it registered",
                        "see libvirt's log of the domain, and try the image with lab/guest");
    }
}
