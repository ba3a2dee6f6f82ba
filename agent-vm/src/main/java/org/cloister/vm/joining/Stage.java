package org.cloister.vm.joining;

/** How far a {@link Course} is, in this order. */
enum Stage {
    /** For the question, the statement and the hand-over. */
    WAITING,
    TAKING,
    JOINING,
    SERVING,
    /** Of the job; what was begun is undone. */
    LEAVING,
    /** The last words. */
    FAREWELL,
    /** Nobody hears any more, and the rest is undone. */
    ENDING,
    OVER
}
