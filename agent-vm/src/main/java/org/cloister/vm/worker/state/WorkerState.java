package org.cloister.vm.worker.state;

/** State of a {@link WorkerStateMachine}, in this order. */
enum WorkerState {
    /** Waits for the question, the statement and the hand-over. */
    AWAITING_HANDOVER,
    ACCEPTING_HANDOVER,
    SETTING_UP,
    SERVING,
    /** Undoes the job's setup steps. */
    SHUTTING_DOWN,
    /** Sends the final report. */
    REPORTING,
    /** Undoes the remaining steps; nothing is reported any more. */
    TEARING_DOWN,
    TERMINATED;

    /** Returns whether the worker must hear from its controlling VM within its lease. */
    boolean isLeased() {
        return this == SETTING_UP || this == SERVING;
    }

    boolean isShuttingDown() {
        return compareTo(SHUTTING_DOWN) >= 0;
    }

    /** @param isHandedOver whether the worker has had its hand-over, and so has a controlling VM to report to */
    boolean needsCircuit(boolean isHandedOver) {
        return switch (this) {
            case AWAITING_HANDOVER, SETTING_UP, SERVING -> true;
            case SHUTTING_DOWN, REPORTING -> isHandedOver;
            case ACCEPTING_HANDOVER, TEARING_DOWN, TERMINATED -> false;
        };
    }
}
