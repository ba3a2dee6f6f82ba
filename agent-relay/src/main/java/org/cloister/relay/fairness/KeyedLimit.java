package org.cloister.relay.fairness;

import java.util.HashMap;
import java.util.Map;

/** Counts the acquisitions of each key, up to a limit. Thread-safe. */
public final class KeyedLimit {
    private final int most;
    private final Map<String, Integer> taken = new HashMap<>();

    public KeyedLimit(int most) {
        this.most = most;
    }

    /**
     * Counts one acquisition of the key.
     *
     * @return false if the key has reached its limit
     */
    public synchronized boolean tryAcquire(String key) {
        int has = taken.getOrDefault(key, 0);
        if (has >= most) {
            return false;
        }
        taken.put(key, has + 1);
        return true;
    }

    public synchronized void release(String key) {
        taken.computeIfPresent(key, (same, has) -> has == 1 ? null : has - 1);
    }
}
