package org.cloister.relay.fairness;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Queue with one lane for each key, served in deficit round robin: each lane gets the same cost per round, however much
 * the other lanes have queued. The lanes and the whole queue are bounded. It has no clock and no threads: time is an
 * argument, in nanoseconds.
 *
 * <p>Guarantee: from the time an entry is at the head of its lane until it is taken, each other lane is served at most
 * the quantum and one entry more.
 */
public final class FairQueue<K, T> {
    /** Number of lanes above which idle lanes, which have no entries and no debt, are removed. */
    private static final int SWEEP = 1024;

    private final Function<K, LaneLimits> limits;
    private final int total;
    private final long quantum;
    private final Map<K, Lane> lanes = new HashMap<>();
    /** Lanes that have entries, in the order of their turns. */
    private final ArrayDeque<Lane> order = new ArrayDeque<>();

    private int size;
    private int sweepAt = SWEEP;

    /** Dequeued entry, with its key for {@link #finish}. */
    public record Dequeued<K, T>(K key, T what) {}

    private record Entry<T>(long cost, T what) {}

    private final class Lane {
        final K key;
        final LaneLimits its;
        final TokenBucket rate;
        final ArrayDeque<Entry<T>> entries = new ArrayDeque<>();
        int unfinished;
        long deficit;

        Lane(K key, long nowNs) {
            this.key = key;
            this.its = limits.apply(key);
            this.rate = new TokenBucket(its.perSecond(), its.burst(), nowNs);
        }

        boolean isReady(Entry<T> head, long nowNs) {
            return unfinished < its.atOnce() && rate.waitNs(head.cost(), nowNs) == 0;
        }

        boolean isIdle(long nowNs) {
            return entries.isEmpty() && unfinished == 0 && rate.isFull(nowNs);
        }
    }

    /**
     * Creates an empty queue.
     *
     * @param total maximum number of waiting entries of all keys
     * @param quantum cost that a lane gets in a round; at least that of the most expensive entry, so that each round
     *     serves one entry of each lane
     * @param limits returns the limits of a key
     */
    public FairQueue(int total, long quantum, Function<K, LaneLimits> limits) {
        this.total = total;
        this.quantum = quantum;
        this.limits = limits;
    }

    /**
     * Adds an entry to the key's lane.
     *
     * @return false if the lane or the whole queue is full; nothing was changed then
     */
    public boolean offer(K key, long cost, T what, long nowNs) {
        Lane lane = lane(key, nowNs);
        if (size >= total || lane.entries.size() >= lane.its.maxWaiting()) {
            return false;
        }
        if (lane.entries.isEmpty()) {
            order.add(lane);
        }
        lane.entries.add(new Entry<>(cost, what));
        size++;
        return true;
    }

    /**
     * Dequeues the next entry whose lane is within its limits. The entry counts as unfinished until {@link #finish}.
     */
    public Optional<Dequeued<K, T>> poll(long nowNs) {
        int barred = 0;
        while (barred < order.size()) {
            Lane lane = order.element();
            Entry<T> head = lane.entries.element();
            if (!lane.isReady(head, nowNs)) {
                barred++;
                lane.deficit = 0;
                next();
            } else if (lane.deficit < head.cost()) {
                barred = 0;
                lane.deficit += quantum;
                if (lane.deficit < head.cost()) {
                    next();
                }
            } else {
                return Optional.of(take(lane, head, nowNs));
            }
        }
        return Optional.empty();
    }

    private Dequeued<K, T> take(Lane lane, Entry<T> head, long nowNs) {
        lane.entries.remove();
        lane.rate.tryAcquire(head.cost(), nowNs);
        lane.deficit -= head.cost();
        lane.unfinished++;
        size--;
        if (lane.entries.isEmpty()) {
            lane.deficit = 0;
            order.remove();
        } else if (lane.deficit < lane.entries.element().cost()) {
            next();
        }
        return new Dequeued<>(lane.key, head.what());
    }

    private void next() {
        order.add(order.remove());
    }

    /** Records that one entry of the key, taken before, has finished. */
    public void finish(K key) {
        Lane lane = lanes.get(key);
        if (lane != null && lane.unfinished > 0) {
            lane.unfinished--;
        }
    }

    /** Charges the key an additional cost, because its request was more expensive than assumed or was refused. */
    public void charge(K key, long cost, long nowNs) {
        lane(key, nowNs).rate.charge(cost, nowNs);
    }

    /** Returns the time in nanoseconds until an entry has enough tokens; empty if no entry waits for tokens alone. */
    public Optional<Long> waitNs(long nowNs) {
        @Nullable Long least = null;
        for (Lane lane : order) {
            if (lane.unfinished < lane.its.atOnce()) {
                long wait = lane.rate.waitNs(lane.entries.element().cost(), nowNs);
                least = least == null ? wait : Math.min(least, wait);
            }
        }
        return Optional.ofNullable(least);
    }

    /** Returns the number of waiting entries. */
    public int size() {
        return size;
    }

    /** Returns the number of keys that have a lane. */
    int lanes() {
        return lanes.size();
    }

    private Lane lane(K key, long nowNs) {
        Lane known = lanes.get(key);
        if (known != null) {
            return known;
        }
        if (lanes.size() >= sweepAt) {
            lanes.values().removeIf(lane -> lane.isIdle(nowNs));
            sweepAt = Math.max(SWEEP, 2 * lanes.size());
        }
        Lane lane = new Lane(key, nowNs);
        lanes.put(key, lane);
        return lane;
    }
}
