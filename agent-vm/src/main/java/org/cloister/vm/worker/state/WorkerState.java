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
    TERMINATED
}
