package org.cloister.relay.links;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Connections that have not made a request yet, by the address they come from. When all places are taken, a new connection
 * displaces the oldest of the address that holds the most, unless its own holds as many; then one that has been silent for
 * long, but of no address that holds fewer than its own. So silent connections lock out their own address alone. No socket and
 * no clock: time is an argument, in nanoseconds. From any thread.
 */
final class PendingConnections {
    /** Half of what a handshake may take: what is older has said nothing, also on a slow machine in a crowd. */
    static final Duration SILENT = Duration.ofSeconds(5);

    /** Of an IPv6 address: a site gives one machine or one person at least that much. */
    private static final int PREFIX_BYTES = 8;

    private final int most;
    private final Map<ByteBuffer, Set<Entry>> sources = new LinkedHashMap<>();
    private int taken;

    /** @param most connections at a time */
    PendingConnections(int most) {
        this.most = most;
    }

    /** One connection's place. */
    final class Entry {
        private final ByteBuffer source;
        private final long sinceNs;
        private final Runnable displace;

        private Entry(ByteBuffer source, long sinceNs, Runnable displace) {
            this.source = source;
            this.sinceNs = sinceNs;
            this.displace = displace;
        }

        /** Gives the place back; a second time changes nothing. */
        void release() {
            synchronized (PendingConnections.this) {
                remove(this);
            }
        }
    }

    /**
     * Takes a place for a new connection, if need be another one's.
     *
     * @param displace closes this connection, called when another one takes its place
     * @return empty if there is none, and the connection is to be closed
     */
    Optional<Entry> admit(InetAddress from, long nowNs, Runnable displace) {
        Entry place = new Entry(source(from), nowNs, displace);
        Optional<Entry> displaced = Optional.empty();
        synchronized (this) {
            if (taken >= most) {
                displaced = displacedBy(place.source, nowNs);
                if (displaced.isEmpty()) {
                    return Optional.empty();
                }
                remove(displaced.get());
            }
            sources.computeIfAbsent(place.source, key -> new LinkedHashSet<>()).add(place);
            taken++;
        }
        displaced.ifPresent(each -> each.displace.run());
        return Optional.of(place);
    }

    /** Connections that have not made a request now. */
    synchronized int size() {
        return taken;
    }

    private Optional<Entry> displacedBy(ByteBuffer source, long nowNs) {
        int own = sources.getOrDefault(source, Set.of()).size();
        Optional<Set<Entry>> largest = sources.values().stream().max(Comparator.comparingInt(Set::size));
        if (largest.isPresent() && largest.get().size() > own + 1) {
            return oldest(largest.get());
        }
        return sources.values().stream()
                .filter(each -> each.size() >= own)
                .map(PendingConnections::oldest)
                .flatMap(Optional::stream)
                .min((one, other) -> Long.compare(one.sinceNs - other.sinceNs, 0))
                .filter(place -> nowNs - place.sinceNs > SILENT.toNanos());
    }

    private static Optional<Entry> oldest(Collection<Entry> places) {
        Iterator<Entry> each = places.iterator();
        return each.hasNext() ? Optional.of(each.next()) : Optional.empty();
    }

    private void remove(Entry place) {
        Set<Entry> its = sources.get(place.source);
        if (its != null && its.remove(place)) {
            taken--;
            if (its.isEmpty()) {
                sources.remove(place.source);
            }
        }
    }

    private static ByteBuffer source(InetAddress from) {
        byte[] address = from.getAddress();
        return ByteBuffer.wrap(address, 0, Math.min(address.length, PREFIX_BYTES))
                .slice();
    }
}
