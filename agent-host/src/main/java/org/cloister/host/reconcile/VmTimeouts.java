package org.cloister.host.reconcile;

import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * How long a VM may take.
 *
 * @param register from the claim until its guest has spoken
 * @param powerOff from the wish until its domain is destroyed
 */
public record VmTimeouts(Duration register, Duration powerOff) {
    boolean isOverdue(VmLedgerEntry entry, long nowMs) {
        return nowMs - entry.claimedMs() >= register.toMillis();
    }

    boolean isPowerOffPending(VmTermination end, long nowMs) {
        return powerOffTimeLeft(end, nowMs).isPresent();
    }

    /** What is left of the time in which the VM may end by itself; empty if nobody waits for that. */
    public Optional<Duration> powerOffTimeLeft(VmTermination end, long nowMs) {
        long leftMs = end.atMs() + powerOff.toMillis() - nowMs;
        return end.why() == VmTermination.Why.ASKED && leftMs > 0
                ? Optional.of(Duration.ofMillis(Math.min(leftMs, powerOff.toMillis())))
                : Optional.empty();
    }

    /** When, in ms since the epoch, something is due of itself. */
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
