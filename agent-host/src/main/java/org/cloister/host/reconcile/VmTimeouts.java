package org.cloister.host.reconcile;

import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Time limits of a VM.
 *
 * @param register from the claim until its guest has registered
 * @param unresponsive from the end of the last session of a registered guest's agent, or from agent-host's start, until
 *     the VM is ended
 * @param powerOff from the stop request until its domain is destroyed
 */
public record VmTimeouts(Duration register, Duration unresponsive, Duration powerOff) {
    boolean isOverdue(VmLedgerEntry entry, long nowMs) {
        return nowMs - entry.claimedMs() >= register.toMillis();
    }

    /**
     * Returns whether a VM must end because its agent hangs.
     *
     * @param withoutSession for how long the agent has had no session
     */
    public boolean isUnresponsive(VmLedgerEntry entry, Duration withoutSession) {
        return entry.step() == VmStartStep.REGISTERED
                && !entry.isEnding()
                && withoutSession.compareTo(unresponsive) >= 0;
    }

    boolean isPowerOffPending(VmTermination end, long nowMs) {
        return powerOffTimeLeft(end, nowMs).isPresent();
    }

    /**
     * Returns the time that remains for the guest to power off by itself; empty if it was not asked, or the time has
     * passed.
     */
    public Optional<Duration> powerOffTimeLeft(VmTermination end, long nowMs) {
        long leftMs = end.atMs() + powerOff.toMillis() - nowMs;
        return end.why() == VmTermination.Why.ASKED && leftMs > 0
                ? Optional.of(Duration.ofMillis(Math.min(leftMs, powerOff.toMillis())))
                : Optional.empty();
    }

    /** Returns the next deadline, in ms since the epoch. */
    OptionalLong nextDeadline(Collection<VmLedgerEntry> entries) {
        return entries.stream()
                .mapToLong(entry -> entry.end()
                        .map(end -> end.why() == VmTermination.Why.ASKED
                                ? end.atMs() + powerOff.toMillis()
                                : Long.MAX_VALUE)
                        .orElse(
                                entry.step() == VmStartStep.REGISTERED
                                        ? Long.MAX_VALUE
                                        : entry.claimedMs() + register.toMillis()))
                .filter(due -> due < Long.MAX_VALUE)
                .min();
    }
}
