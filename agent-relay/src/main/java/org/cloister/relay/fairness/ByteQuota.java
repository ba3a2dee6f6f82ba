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
    private final Map<String, Long> reservedByKey = new HashMap<>();
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
        long ofKey = reservedByKey.getOrDefault(key, 0L) + bytes;
        if (ofKey > perKey || (all + bytes > total && ofKey > always)) {
            return false;
        }
        count(key, ofKey, bytes);
        return true;
    }

    /** Counts bytes without a check, for data that has its own bound. */
    public synchronized void add(String key, long bytes) {
        count(key, reservedByKey.getOrDefault(key, 0L) + bytes, bytes);
    }

    private void count(String key, long ofKey, long bytes) {
        reservedByKey.put(key, ofKey);
        all += bytes;
    }

    public synchronized void release(String key, long bytes) {
        all -= bytes;
        reservedByKey.computeIfPresent(key, (same, ofKey) -> ofKey <= bytes ? null : ofKey - bytes);
    }

    /** Returns the bytes reserved by all keys. */
    public synchronized long reserved() {
        return all;
    }
}
