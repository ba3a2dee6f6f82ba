package org.cloister.relay.fairness;

import java.util.HashMap;
import java.util.Map;

/**
 * Counts bytes that wait to be written, per key and in total, against a limit of each. A key that holds little may
 * always reserve it, so that keys that use up the total cannot block the others. Thread-safe.
 */
public final class ByteQuota {
    private final long perKey;
    private final long total;
    private final long always;
    private final Map<String, Long> held = new HashMap<>();
    private long all;

    /**
     * @param perKey maximum number of bytes of one key
     * @param total maximum number of bytes of all keys together
     * @param always number of bytes that a key may hold even when the total is reached
     */
    public ByteQuota(long perKey, long total, long always) {
        this.perKey = perKey;
        this.total = total;
        this.always = always;
    }

    /**
     * Reserves bytes for a key.
     *
     * @return false if the key would exceed its limit; nothing was counted then
     */
    public synchronized boolean tryReserve(String key, long bytes) {
        long its = held.getOrDefault(key, 0L) + bytes;
        if (its > perKey || (all + bytes > total && its > always)) {
            return false;
        }
        count(key, its, bytes);
        return true;
    }

    /** Counts bytes without a check, for data that has its own bound. */
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

    /** Returns the bytes reserved by all keys. */
    public synchronized long reserved() {
        return all;
    }
}
