package org.cloister.host.health;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.cloister.host.control.VmRunResult;
import org.cloister.host.reconcile.ReconcilePass;

/**
 * Whether this node is to be drained or resumed. What is read back from Slurm is the state: a new process of the daemon resumes
 * what the one before has drained. Times are in ms since the epoch. Of one thread.
 */
public final class NodeHealth {
    private static final NodeDecision LEAVE = new NodeDecision.NoChange();

    private final Delays times;
    /** The last of this host's own faults that is not over. */
    private Optional<Fault> fault = Optional.empty();

    private Optional<Fault> trouble = Optional.empty();
    private OptionalLong cleanMs = OptionalLong.empty();
    private OptionalLong resumedMs = OptionalLong.empty();
    private boolean looked;
    private boolean wasOurs;

    /** @param atMs when it came, or began */
    private record Fault(String what, long atMs) {}

    /**
     * @param trouble how long rounds have to find something that cannot be cleaned up until the node is drained
     * @param clean how long nothing may be wrong until it is resumed
     * @param again a fault so soon after we resumed it has it drained until an administrator resumes it
     */
    public record Delays(Duration trouble, Duration clean, Duration again) {
        public static final Delays DEFAULT =
                new Delays(Duration.ofSeconds(60), Duration.ofMinutes(5), Duration.ofHours(1));
    }

    public NodeHealth(Delays times) {
        this.times = times;
    }

    /** A VM has ended, or never began. Whose fault that was says its code. */
    public void onVmEnded(VmRunResult how, long nowMs) {
        if (how.code() == VmRunResult.Code.HOST) {
            String hint = how.hint().isEmpty() ? "" : "; " + how.hint();
            fault = Optional.of(new Fault(how.phase() + " failed: " + how.text() + hint, nowMs));
        }
    }

    /** Until each source has answered once, nothing is known: VMs wait, and so do we. */
    public void onPass(ReconcilePass.Outcome outcome, long nowMs) {
        if (!outcome.neverAnswered().isEmpty()) {
            return;
        }
        if (outcome.isClean()) {
            trouble = Optional.empty();
            cleanMs = OptionalLong.of(cleanMs.orElse(nowMs));
        } else {
            long sinceMs = trouble.map(Fault::atMs).orElse(nowMs);
            trouble = Optional.of(
                    new Fault("cannot clean up: " + outcome.problems().get(0), sinceMs));
            cleanMs = OptionalLong.empty();
        }
    }

    /** Whether it matters how Slurm has the node: once after the start, and while there is something to do or to undo. */
    public boolean needsCheck(long nowMs) {
        return !looked || wasOurs || fault.isPresent() || lasting(nowMs).isPresent();
    }

    /** @param wrong what else keeps this host from taking tickets now: as long as there is anything, it is not resumed */
    public NodeDecision decide(SlurmNodeState seen, List<String> wrong, long nowMs) {
        looked = true;
        boolean quiet = isQuiet(nowMs) && wrong.isEmpty();
        Optional<DrainReason> ours = seen.ours();
        boolean resumedByOther = wasOurs && !seen.isOutOfService();
        wasOurs = ours.isPresent();
        if (quiet) {
            fault = Optional.empty();
        }
        if (ours.isPresent()) {
            DrainReason reason = ours.get();
            boolean isOver = quiet && nowMs - reason.since().toEpochMilli() >= times.clean.toMillis();
            return isOver && !reason.manualResume() && !seen.isDown() ? new NodeDecision.Resume(reason) : LEAVE;
        }
        if (seen.isOutOfService()) {
            return LEAVE;
        }
        if (resumedByOther) {
            forgive(nowMs);
        }
        return lasting(nowMs).or(() -> fault).map(why -> drain(why, nowMs)).orElse(LEAVE);
    }

    /** It was drained for us: if it takes jobs when it is seen next, somebody has resumed it. */
    public void onDrained() {
        wasOurs = true;
    }

    /** A node that was ours takes jobs again by our doing. */
    public void onResumed(long nowMs) {
        wasOurs = false;
        resumedMs = OptionalLong.of(nowMs);
    }

    /** Who resumes a node by hand has seen to it: what was counts no more, and what still is wrong is given its time anew. */
    private void forgive(long nowMs) {
        fault = Optional.empty();
        trouble = trouble.map(old -> new Fault(old.what, nowMs));
        resumedMs = OptionalLong.empty();
    }

    private NodeDecision drain(Fault why, long nowMs) {
        boolean isAgain = resumedMs.isPresent() && nowMs - resumedMs.getAsLong() < times.again.toMillis();
        return new NodeDecision.Drain(DrainReason.of(why.what, nowMs, isAgain));
    }

    private Optional<Fault> lasting(long nowMs) {
        return trouble.filter(each -> nowMs - each.atMs >= times.trouble.toMillis());
    }

    private boolean isQuiet(long nowMs) {
        long needMs = times.clean.toMillis();
        boolean isClean = cleanMs.isPresent() && nowMs - cleanMs.getAsLong() >= needMs;
        return isClean && fault.map(each -> nowMs - each.atMs >= needMs).orElse(true);
    }
}
