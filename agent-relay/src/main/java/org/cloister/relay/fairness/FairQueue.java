package org.cloister.relay.fairness;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Entries in lanes, a lane for each key, taken in deficit round robin: each lane gets the same cost of each round, whatever the
 * others have queued. Lanes and the whole are bounded. No clock, no threads: time is an argument, in nanoseconds.
 *
 * <p>The bound: from an entry's place at the head of its lane until it is taken, each other lane is given at most the quantum
 * and one entry more.
 */
public final class FairQueue<K, T> {
    /** Lanes beyond which those are forgotten that have nothing and owe nothing. */
    private static final int SWEEP = 1024;

    private final Function<K, LaneLimits> limits;
    private final int total;
    private final long quantum;
    private final Map<K, Lane> lanes = new HashMap<>();
    /** Those that have entries, in the order of their turns. */
    private final ArrayDeque<Lane> turns = new ArrayDeque<>();

    private int size;
    private int sweepAt = SWEEP;

    /** An entry that was taken, with its key for {@link #finish}. */
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
     * An empty one.
     *
     * @param total entries that wait, of all keys
     * @param quantum cost that a lane gets in a round; at least that of the dearest entry, for a round to give each lane one
     * @param limits of each key
     */
    public FairQueue(int total, long quantum, Function<K, LaneLimits> limits) {
        this.total = total;
        this.quantum = quantum;
        this.limits = limits;
    }

    /** @return false if the lane or the whole is full, and nothing was changed */
    public boolean offer(K key, long cost, T what, long nowNs) {
        Lane lane = lane(key, nowNs);
        if (size >= total || lane.entries.size() >= lane.its.maxWaiting()) {
            return false;
        }
        if (lane.entries.isEmpty()) {
            turns.add(lane);
        }
        lane.entries.add(new Entry<>(cost, what));
        size++;
        return true;
    }

    /** The next entry that may go; it counts as unfinished until {@link #finish}. */
    public Optional<Dequeued<K, T>> poll(long nowNs) {
        int barred = 0;
        while (barred < turns.size()) {
            Lane lane = turns.element();
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
            turns.remove();
        } else if (lane.deficit < lane.entries.element().cost()) {
            next();
        }
        return new Dequeued<>(lane.key, head.what());
    }

    private void next() {
        turns.add(turns.remove());
    }

    /** One entry of the key, taken before, is over. */
    public void finish(K key) {
        Lane lane = lanes.get(key);
        if (lane != null && lane.unfinished > 0) {
            lane.unfinished--;
        }
    }

    /** Costs the key so much more: what it asked for was dearer, or not worth it. */
    public void charge(K key, long cost, long nowNs) {
        lane(key, nowNs).rate.charge(cost, nowNs);
    }

    /** How long until an entry may go because tokens have come; empty if none waits for tokens alone. */
    public Optional<Long> waitNs(long nowNs) {
        @Nullable Long least = null;
        for (Lane lane : turns) {
            if (lane.unfinished < lane.its.atOnce()) {
                long wait = lane.rate.waitNs(lane.entries.element().cost(), nowNs);
                least = least == null ? wait : Math.min(least, wait);
            }
        }
        return Optional.ofNullable(least);
    }

    /** Entries that wait. */
    public int size() {
        return size;
    }

    /** Keys that are remembered. */
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
