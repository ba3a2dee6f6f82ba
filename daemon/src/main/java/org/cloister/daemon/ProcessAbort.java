package org.cloister.daemon;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends a process that cannot continue, such as one whose state on its disk is unknown. Thread-safe. */
@FunctionalInterface
public interface ProcessAbort {
    /** EX_IOERR of sysexits.h, an error of a disk: after it, systemd starts the daemon again. */
    int EXIT = 74;

    /**
     * Returns the abort of a daemon: ends it at once and writes nothing more, like a kill, which all that it stores
     * must survive anyway.
     *
     * @param name the daemon's
     */
    static ProcessAbort halting(String name) {
        Logger log = LoggerFactory.getLogger(ProcessAbort.class);
        return why -> {
            log.error("{} exits, and systemd restarts it: {}; check whether the disk fails or is full", name, why);
            Runtime.getRuntime().halt(EXIT);
        };
    }

    /**
     * Ends the process.
     *
     * @param why in one line, for people
     */
    void abort(String why);
}
