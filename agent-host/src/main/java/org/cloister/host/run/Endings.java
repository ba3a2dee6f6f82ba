package org.cloister.host.run;

import org.cloister.host.desk.Ending;
import org.cloister.host.desk.Ending.Code;
import org.cloister.host.desk.Phase;
import org.cloister.host.disk.DiskFull;
import org.cloister.host.ledger.BuildFailed;
import org.cloister.host.ledger.End;
import org.cloister.host.libvirt.HypervisorUnavailable;
import org.cloister.host.step.StepGone;

/** What a job step is told of its VM's end, from what the ledger says. */
final class Endings {
    /** As QEMU says it of a file that another QEMU has open. */
    private static final String LOCKED = "Failed to get \"write\" lock";

    private Endings() {}

    /**
     * Of a VM that was not built, by what kept it from that.
     *
     * @param reached the last phase that was
     */
    static Ending of(BuildFailed failure, Phase reached) {
        Throwable cause = failure.getCause();
        String text = String.valueOf((cause == null ? failure : cause).getMessage());
        Phase phase = Phase.of(failure.step()).orElse(reached);
        if (cause instanceof StepGone) {
            return new Ending(Code.STOPPED, phase, text, "");
        }
        if (cause instanceof HypervisorUnavailable) {
            return new Ending(Code.UNAVAILABLE, phase, text, "see agentctl host status on this host");
        }
        if (cause instanceof DiskFull full && full.isPromised()) {
            return new Ending(Code.UNAVAILABLE, phase, text, "ask for less scratch, or wait for other VMs to end");
        }
        if (text.contains(LOCKED)) {
            // The disk of a VM whose agent-host is dead, elsewhere as a rule.
            return new Ending(Code.UNAVAILABLE, phase, text, "end the VM that still writes to this drive");
        }
        return new Ending(Code.HOST, phase, text, "see agent-host's log on this host");
    }

    /** @param phase the last that the VM reached */
    static Ending of(End end, Phase phase) {
        boolean spoke = phase.compareTo(Phase.REGISTERED) >= 0;
        return switch (end.why()) {
            case ASKED -> new Ending(Code.STOPPED, phase, "it was asked to end", "");
            case STEP_GONE ->
                new Ending(Code.STOPPED, phase, "its job's step has ended, or it was taken out of it", "");
            case DOMAIN_GONE ->
                spoke
                        ? new Ending(Code.DONE, phase, "the guest has ended", "")
                        : new Ending(
                                Code.GUEST,
                                phase,
                                "the guest has ended before it spoke",
                                "see libvirt's log of the domain, and try the image with lab/guest");
            case DIED ->
                new Ending(
                        Code.GUEST,
                        phase,
                        "its QEMU crashed, or was killed",
                        "see libvirt's log of the domain and this host's kernel log, as for a lack of memory");
            case STOPPED ->
                new Ending(
                        Code.HOST,
                        phase,
                        "its CPUs stood still, as after an error of its disk",
                        "look at the file system of the scratch folder");
            case LOST ->
                new Ending(
                        Code.HOST,
                        phase,
                        "its " + end.at() + " was taken away",
                        "look who changes this host besides us");
            case NOT_REGISTERED ->
                new Ending(
                        Code.GUEST,
                        phase,
                        "the guest did not speak in time",
                        "raise times.register where machines are slow, or look at the image");
            case INTERRUPTED -> new Ending(Code.UNAVAILABLE, phase, "agent-host was restarted amid its start", "");
            case FAILED ->
                new Ending(Code.HOST, phase, "its step " + end.at() + " failed", "see agent-host's log on this host");
            case DRIVE_TAKEN -> new Ending(Code.STOPPED, phase, "its drive was taken by a later opening", "");
            case DRIVE_SILENT ->
                new Ending(
                        Code.UNAVAILABLE,
                        phase,
                        "the storage of its drive gave no answer, and who writes to the drive was not known",
                        "look at the folder vm.drives on this host");
            case ORPHAN -> new Ending(Code.HOST, phase, "nothing was known of it", "see agentctl host ledger");
        };
    }
}
