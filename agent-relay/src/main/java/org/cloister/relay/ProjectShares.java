package org.cloister.relay;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.cloister.protocol.identity.Approval;
import org.cloister.relay.fair.TokenBucket;

/** What each project has of the relay, so that none takes more than its site allows, nor all. From any thread. */
final class ProjectShares {
    private final RelayLimits limits;
    private final Function<String, Optional<Approval>> approvals;
    /** As many as projects the site has approved: only their links come here. */
    private final Map<String, Share> shares = new ConcurrentHashMap<>();

    private record Share(AtomicInteger links, AtomicInteger circuits, TokenBucket opens) {
        boolean mayOpen(long nowNs) {
            synchronized (opens) {
                return opens.take(1, nowNs);
            }
        }
    }

    /** One link's or circuit's place; giving it back twice counts once. */
    static final class Place implements AutoCloseable {
        private final AtomicInteger taken;
        private final AtomicBoolean given = new AtomicBoolean();

        private Place(AtomicInteger taken) {
            this.taken = taken;
        }

        @Override
        public void close() {
            if (given.compareAndSet(false, true)) {
                taken.decrementAndGet();
            }
        }
    }

    ProjectShares(RelayLimits limits, Function<String, Optional<Approval>> approvals) {
        this.limits = limits;
        this.approvals = approvals;
    }

    /** @return empty when the project has all it may have */
    Optional<Place> takeCircuit(String project, long nowNs) {
        Optional<Approval> approval = approvals.apply(project);
        if (approval.isEmpty()) {
            return Optional.empty();
        }
        Share share = share(project, nowNs);
        int most = Math.min(limits.projectCircuits(), approval.get().quota().circuits());
        return share.mayOpen(nowNs) ? take(share.circuits, most) : Optional.empty();
    }

    /** The same for a device's link. */
    Optional<Place> takeLink(String project, long nowNs) {
        Optional<Approval> approval = approvals.apply(project);
        return approval.isEmpty()
                ? Optional.empty()
                : take(share(project, nowNs).links, approval.get().quota().links());
    }

    private Share share(String project, long nowNs) {
        return shares.computeIfAbsent(
                project,
                name -> new Share(
                        new AtomicInteger(),
                        new AtomicInteger(),
                        new TokenBucket(limits.projectOpens(), 2L * limits.projectOpens(), nowNs)));
    }

    private static Optional<Place> take(AtomicInteger taken, int most) {
        if (taken.incrementAndGet() > most) {
            taken.decrementAndGet();
            return Optional.empty();
        }
        return Optional.of(new Place(taken));
    }
}
