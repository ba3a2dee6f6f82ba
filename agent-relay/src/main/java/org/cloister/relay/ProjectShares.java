package org.cloister.relay;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** What each project has of the relay, so that none takes it all. From any thread. */
final class ProjectShares {
    private final int maxCircuits;
    private final int opensPerSecond;
    /** As many as projects the site has approved: only their links come here. */
    private final Map<String, Share> shares = new ConcurrentHashMap<>();

    private record Share(AtomicInteger circuits, OpenRate opens) {}

    /** One circuit's place; giving it back twice counts once. */
    static final class Place implements AutoCloseable {
        private final AtomicInteger circuits;
        private final AtomicBoolean given = new AtomicBoolean();

        private Place(AtomicInteger circuits) {
            this.circuits = circuits;
        }

        @Override
        public void close() {
            if (given.compareAndSet(false, true)) {
                circuits.decrementAndGet();
            }
        }
    }

    ProjectShares(RelayLimits limits) {
        this.maxCircuits = limits.projectCircuits();
        this.opensPerSecond = limits.projectOpens();
    }

    /** @return empty when the project has all it may have */
    Optional<Place> take(String project, long nowNs) {
        Share share = shares.computeIfAbsent(
                project, name -> new Share(new AtomicInteger(), new OpenRate(opensPerSecond, nowNs)));
        if (share.circuits.incrementAndGet() > maxCircuits || !share.opens.take(nowNs)) {
            share.circuits.decrementAndGet();
            return Optional.empty();
        }
        return Optional.of(new Place(share.circuits));
    }
}
