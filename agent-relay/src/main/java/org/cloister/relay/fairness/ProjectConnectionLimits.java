package org.cloister.relay.fairness;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.cloister.protocol.identity.ProjectApproval;

/**
 * Limits each project's links and circuits to the site's approval, so that no project uses up the relay. Thread-safe.
 */
public final class ProjectConnectionLimits {
    private final RelayLimits limits;
    private final Function<String, Optional<ProjectApproval>> approvals;
    /**
     * Usage by project, with at most one entry for each project that the site has approved: links of other projects are
     * not admitted.
     */
    private final Map<String, Usage> usages = new ConcurrentHashMap<>();

    private record Usage(AtomicInteger links, AtomicInteger circuits, TokenBucket opens) {
        boolean tryOpen(long nowNs) {
            synchronized (opens) {
                return opens.tryAcquire(1, nowNs);
            }
        }
    }

    /** Reservation of one link or circuit; closing it twice counts once. */
    public static final class Reservation implements AutoCloseable {
        private final AtomicInteger used;
        private final AtomicBoolean released = new AtomicBoolean();

        private Reservation(AtomicInteger used) {
            this.used = used;
        }

        @Override
        public void close() {
            if (released.compareAndSet(false, true)) {
                used.decrementAndGet();
            }
        }
    }

    public ProjectConnectionLimits(RelayLimits limits, Function<String, Optional<ProjectApproval>> approvals) {
        this.limits = limits;
        this.approvals = approvals;
    }

    /**
     * Reserves a place for a circuit.
     *
     * @return empty when the project has reached its limit or is not approved
     */
    public Optional<Reservation> acquireCircuit(String project, long nowNs) {
        Optional<ProjectApproval> approval = approvals.apply(project);
        if (approval.isEmpty()) {
            return Optional.empty();
        }
        Usage usage = usage(project, nowNs);
        int limit = Math.min(limits.projectCircuits(), approval.get().quota().circuits());
        return usage.tryOpen(nowNs) ? reserve(usage.circuits, limit) : Optional.empty();
    }

    /** Reserves a place for a device's link, as {@link #acquireCircuit} does for a circuit. */
    public Optional<Reservation> acquireLink(String project, long nowNs) {
        Optional<ProjectApproval> approval = approvals.apply(project);
        return approval.isEmpty()
                ? Optional.empty()
                : reserve(usage(project, nowNs).links, approval.get().quota().links());
    }

    private Usage usage(String project, long nowNs) {
        return usages.computeIfAbsent(
                project,
                name -> new Usage(
                        new AtomicInteger(),
                        new AtomicInteger(),
                        new TokenBucket(
                                limits.projectOpens(), (long) RelayLimits.OPENS_BURST * limits.projectOpens(), nowNs)));
    }

    private static Optional<Reservation> reserve(AtomicInteger used, int limit) {
        if (used.incrementAndGet() > limit) {
            used.decrementAndGet();
            return Optional.empty();
        }
        return Optional.of(new Reservation(used));
    }
}
