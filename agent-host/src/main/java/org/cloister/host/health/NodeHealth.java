package org.cloister.host.health;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.cloister.host.control.VmRunResult;
import org.cloister.host.reconcile.ReconcilePass;
import org.cloister.host.vm.VmRunCode;

/**
 * Decides whether this node must be drained or may be resumed. The state is read back from Slurm: a restarted daemon
 * resumes a node that the previous one drained. Times are in ms since the epoch. Not thread-safe.
 */
public final class NodeHealth {
    private static final NodeDecision NO_CHANGE = new NodeDecision.NoChange();

    private final Delays times;
    /** Latest fault of this host itself that has not been cleared. */
    private Optional<Fault> fault = Optional.empty();

    private Optional<Fault> problem = Optional.empty();
    private OptionalLong cleanMs = OptionalLong.empty();
    private OptionalLong resumedMs = OptionalLong.empty();
    private boolean checked;
    private boolean wasDrainedByUs;

    /**
     * Fault that requires a drain.
     *
     * @param atMs when it occurred or began
     */
    private record Fault(String what, long atMs) {}

    /**
     * Delays of decisions.
     *
     * @param problem how long passes must report that something cannot be cleaned up before the node is drained
     * @param clean how long everything must be well before the node is resumed
     * @param again time after our resume within which a further fault drains the node until an administrator resumes it
     */
    public record Delays(Duration problem, Duration clean, Duration again) {
        public static final Delays DEFAULT =
                new Delays(Duration.ofSeconds(60), Duration.ofMinutes(5), Duration.ofHours(1));
    }

    public NodeHealth(Delays times) {
        this.times = times;
    }

    /** Records the result of a VM that has ended or did not start. Its code shows whether this host is at fault. */
    public void onVmEnded(VmRunResult how, long nowMs) {
        if (how.code() == VmRunCode.HOST) {
            String hint = how.hint().isEmpty() ? "" : "; " + how.hint();
            fault = Optional.of(new Fault(how.phase() + " failed: " + how.text() + hint, nowMs));
        }
    }

    /** Records a pass. Nothing is concluded before each source has answered once, as VMs wait until then, too. */
    public void onPass(ReconcilePass.Outcome outcome, long nowMs) {
        if (!outcome.neverAnswered().isEmpty()) {
            return;
        }
        if (outcome.isClean()) {
            problem = Optional.empty();
            cleanMs = OptionalLong.of(cleanMs.orElse(nowMs));
        } else {
            long sinceMs = problem.map(Fault::atMs).orElse(nowMs);
            problem = Optional.of(
                    new Fault("cannot clean up: " + outcome.problems().get(0), sinceMs));
            cleanMs = OptionalLong.empty();
        }
    }

    /**
     * Returns whether the node's state in Slurm must be read: once after the start, and while something must be done or
     * undone.
     */
    public boolean needsCheck(long nowMs) {
        return !checked || wasDrainedByUs || fault.isPresent() || lasting(nowMs).isPresent();
    }

    /**
     * Decides what to do with the node.
     *
     * @param wrong other reasons why this host accepts no tickets now; while there is one, the node is not resumed
     */
    public NodeDecision decide(SlurmNodeState seen, List<String> wrong, long nowMs) {
        checked = true;
        boolean quiet = isQuiet(nowMs) && wrong.isEmpty();
        Optional<DrainReason> ours = seen.ours();
        boolean resumedByOther = wasDrainedByUs && !seen.isOutOfService();
        wasDrainedByUs = ours.isPresent();
        if (quiet) {
            fault = Optional.empty();
        }
        if (ours.isPresent()) {
            DrainReason reason = ours.get();
            boolean isOver = quiet && nowMs - reason.since().toEpochMilli() >= times.clean.toMillis();
            return isOver && !reason.manualResume() && !seen.isDown() ? new NodeDecision.Resume(reason) : NO_CHANGE;
        }
        if (seen.isOutOfService()) {
            return NO_CHANGE;
        }
        if (resumedByOther) {
            forgive(nowMs);
        }
        Optional<NodeDecision> drain = lasting(nowMs).or(() -> fault).map(why -> drain(why, nowMs));
        return drain.or(() -> seen.past().map(NodeDecision.ReplaceReason::new)).orElse(NO_CHANGE);
    }

    /** Records that agent-host drained the node: if it accepts jobs at the next check, someone else has resumed it. */
    public void onDrained() {
        wasDrainedByUs = true;
    }

    /** Records that agent-host resumed the node, which is checked once more: Slurm may have kept the reason. */
    public void onResumed(long nowMs) {
        checked = false;
        wasDrainedByUs = false;
        resumedMs = OptionalLong.of(nowMs);
    }

    /**
     * Clears the recorded faults after an administrator resumed the node: past faults no longer count, and lasting ones
     * get their full delay again.
     */
    private void forgive(long nowMs) {
        fault = Optional.empty();
        problem = problem.map(old -> new Fault(old.what, nowMs));
        resumedMs = OptionalLong.empty();
    }

    private NodeDecision drain(Fault why, long nowMs) {
        boolean isAgain = resumedMs.isPresent() && nowMs - resumedMs.getAsLong() < times.again.toMillis();
        return new NodeDecision.Drain(DrainReason.of(why.what, nowMs, isAgain));
    }

    private Optional<Fault> lasting(long nowMs) {
        return problem.filter(each -> nowMs - each.atMs >= times.problem.toMillis());
    }

    private boolean isQuiet(long nowMs) {
        long requiredMs = times.clean.toMillis();
        boolean isClean = cleanMs.isPresent() && nowMs - cleanMs.getAsLong() >= requiredMs;
        return isClean && fault.map(each -> nowMs - each.atMs >= requiredMs).orElse(true);
    }
}
