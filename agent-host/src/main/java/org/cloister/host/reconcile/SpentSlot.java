package org.cloister.host.reconcile;

/**
 * A place of a ticket whose VM has ended: it starts no second one.
 *
 * @param endedMs since the epoch
 */
record SpentSlot(String ticket, int slot, long endedMs) {
    /** A Global job has ended long before, and its ticket is worth nothing without it. */
    static final long KEPT_MS = 7L * 24 * 3600 * 1000;

    static String key(String ticket, int slot) {
        return ticket + "." + slot;
    }

    String key() {
        return key(ticket, slot);
    }
}
