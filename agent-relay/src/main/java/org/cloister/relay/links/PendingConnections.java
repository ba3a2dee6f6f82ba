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
 * Tracks connections that have not made a request yet, by their source address. When all places are taken, a new
 * connection displaces the oldest one of the address that holds the most, unless its own address holds as many; then it
 * displaces one that has been silent for longer than {@link #SILENT}, but never one of an address that holds fewer than
 * its own. Silent connections therefore block their own address only. It has no socket and no clock: time is an
 * argument, in nanoseconds. Thread-safe.
 */
final class PendingConnections {
    /** Half of the time for a handshake: an older connection is silent, even on a slow machine under load. */
    static final Duration SILENT = Duration.ofSeconds(5);

    /**
     * Length of the part of an IPv6 address that counts as its source: a site assigns at least such a prefix to one
     * machine or person.
     */
    private static final int PREFIX_BYTES = 8;

    private final int limit;
    private final Map<ByteBuffer, Set<Entry>> sources = new LinkedHashMap<>();
    private int count;

    /** @param limit maximum number of connections at one time */
    PendingConnections(int limit) {
        this.limit = limit;
    }

    /** Place of one connection. */
    final class Entry {
        private final ByteBuffer source;
        private final long sinceNs;
        private final Runnable displace;

        private Entry(ByteBuffer source, long sinceNs, Runnable displace) {
            this.source = source;
            this.sinceNs = sinceNs;
            this.displace = displace;
        }

        /** Releases the place; a second call has no effect. */
        void release() {
            synchronized (PendingConnections.this) {
                remove(this);
            }
        }
    }

    /**
     * Acquires a place for a new connection, if necessary by displacing another connection.
     *
     * @param displace closes this connection; called when another one displaces it
     * @return empty if no place is available; the caller closes the connection
     */
    Optional<Entry> admit(InetAddress from, long nowNs, Runnable displace) {
        Entry entry = new Entry(source(from), nowNs, displace);
        Optional<Entry> displaced = Optional.empty();
        synchronized (this) {
            if (count >= limit) {
                displaced = displacedBy(entry.source, nowNs);
                if (displaced.isEmpty()) {
                    return Optional.empty();
                }
                remove(displaced.get());
            }
            sources.computeIfAbsent(entry.source, key -> new LinkedHashSet<>()).add(entry);
            count++;
        }
        displaced.ifPresent(each -> each.displace.run());
        return Optional.of(entry);
    }

    /** Returns the number of connections that have not made a request yet. */
    synchronized int size() {
        return count;
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
                .filter(entry -> nowNs - entry.sinceNs > SILENT.toNanos());
    }

    private static Optional<Entry> oldest(Collection<Entry> entries) {
        Iterator<Entry> each = entries.iterator();
        return each.hasNext() ? Optional.of(each.next()) : Optional.empty();
    }

    private void remove(Entry entry) {
        Set<Entry> entries = sources.get(entry.source);
        if (entries != null && entries.remove(entry)) {
            count--;
            if (entries.isEmpty()) {
                sources.remove(entry.source);
            }
        }
    }

    private static ByteBuffer source(InetAddress from) {
        byte[] address = from.getAddress();
        return ByteBuffer.wrap(address, 0, Math.min(address.length, PREFIX_BYTES))
                .slice();
    }
}
