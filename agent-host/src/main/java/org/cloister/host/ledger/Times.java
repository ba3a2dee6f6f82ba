package org.cloister.host.ledger;

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
public record Times(Duration register, Duration powerOff) {
    boolean isOverdue(Entry entry, long nowMs) {
        return nowMs - entry.claimedMs() >= register.toMillis();
    }

    boolean isPatient(End end, long nowMs) {
        return left(end, nowMs).isPresent();
    }

    /** What is left of the time in which the VM may end by itself; empty if nobody waits for that. */
    public Optional<Duration> left(End end, long nowMs) {
        long leftMs = end.atMs() + powerOff.toMillis() - nowMs;
        return end.why() == End.Why.ASKED && leftMs > 0
                ? Optional.of(Duration.ofMillis(Math.min(leftMs, powerOff.toMillis())))
                : Optional.empty();
    }

    /** When, in ms since the epoch, something is due of itself. */
    OptionalLong next(Collection<Entry> entries) {
        return entries.stream()
                .mapToLong(entry -> entry.end()
                        .map(end -> end.why() == End.Why.ASKED ? end.atMs() + powerOff.toMillis() : Long.MAX_VALUE)
                        .orElse(
                                entry.step() == Step.REGISTERED
                                        ? Long.MAX_VALUE
                                        : entry.claimedMs() + register.toMillis()))
                .filter(due -> due < Long.MAX_VALUE)
                .min();
    }
}
