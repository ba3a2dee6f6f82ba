package org.cloister.host.reconcile;

/** The process is no more: nothing catches this but a test. */
final class SimulatedKill extends Error {
    private static final long serialVersionUID = 1;

    private final boolean beforeStep;

    /** @param beforeStep nothing was done since the ledger's last line was written */
    SimulatedKill(String where, boolean beforeStep) {
        super(where);
        this.beforeStep = beforeStep;
    }

    boolean isBeforeStep() {
        return beforeStep;
    }
}
