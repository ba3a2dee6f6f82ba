package org.cloister.relay.fairness;

import java.util.HashMap;
import java.util.Map;

/**
 * Counts bytes that wait to be written, by key and in all, against a limit of each. A key that has little may always have it, so
 * that others who hold all there is take nothing from it. From any thread.
 */
public final class ByteQuota {
    private final long perKey;
    private final long total;
    private final long always;
    private final Map<String, Long> held = new HashMap<>();
    private long all;

    /** @param always what a key may hold although the total is reached */
    public ByteQuota(long perKey, long total, long always) {
        this.perKey = perKey;
        this.total = total;
        this.always = always;
    }

    /** @return false if the key would have more than it may, and nothing was counted */
    public synchronized boolean tryReserve(String key, long bytes) {
        long its = held.getOrDefault(key, 0L) + bytes;
        if (its > perKey || (all + bytes > total && its > always)) {
            return false;
        }
        count(key, its, bytes);
        return true;
    }

    /** Counts what has a bound of its own. */
    public synchronized void add(String key, long bytes) {
        count(key, held.getOrDefault(key, 0L) + bytes, bytes);
    }

    private void count(String key, long its, long bytes) {
        held.put(key, its);
        all += bytes;
    }

    public synchronized void release(String key, long bytes) {
        all -= bytes;
        held.computeIfPresent(key, (same, its) -> its <= bytes ? null : its - bytes);
    }

    /** Of all keys. */
    public synchronized long reserved() {
        return all;
    }
}
