package org.cloister.vm.worker.state;

/** How far a {@link WorkerStateMachine} is, in this order. */
enum WorkerState {
    /** For the question, the statement and the hand-over. */
    AWAITING_HANDOVER,
    ACCEPTING_HANDOVER,
    SETTING_UP,
    SERVING,
    /** Of the job; what was begun is undone. */
    SHUTTING_DOWN,
    /** The last words. */
    REPORTING,
    /** Nobody hears any more, and the rest is undone. */
    TEARING_DOWN,
    TERMINATED
}
