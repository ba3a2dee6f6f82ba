package org.cloister.host.reconcile;

/**
 * Spent slot: its VM has ended, and this host starts no second one for it.
 *
 * @param endedMs in ms since the epoch
 */
record SpentSlot(String ticket, int slot, long endedMs) {
    /** Retention time in ms; by then the global job has ended long ago, and its ticket is worthless without it. */
    static final long KEPT_MS = 7L * 24 * 3600 * 1000;

    static String key(String ticket, int slot) {
        return ticket + "." + slot;
    }

    String key() {
        return key(ticket, slot);
    }
}
