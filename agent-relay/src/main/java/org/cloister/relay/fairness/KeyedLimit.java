package org.cloister.relay.fairness;

import java.util.HashMap;
import java.util.Map;

/** Counts the acquisitions of each key, up to a limit. Thread-safe. */
public final class KeyedLimit {
    private final int limit;
    private final Map<String, Integer> acquired = new HashMap<>();

    public KeyedLimit(int limit) {
        this.limit = limit;
    }

    /**
     * Counts one acquisition of the key.
     *
     * @return false if the key has reached its limit
     */
    public synchronized boolean tryAcquire(String key) {
        int has = acquired.getOrDefault(key, 0);
        if (has >= limit) {
            return false;
        }
        acquired.put(key, has + 1);
        return true;
    }

    public synchronized void release(String key) {
        acquired.computeIfPresent(key, (same, has) -> has == 1 ? null : has - 1);
    }
}
