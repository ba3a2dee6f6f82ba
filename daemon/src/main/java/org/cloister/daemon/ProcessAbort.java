package org.cloister.daemon;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How a process ends that cannot go on, as when nobody can say what of it is on its disk. From any thread. */
@FunctionalInterface
public interface ProcessAbort {
    /** sysexits.h, an error of a disk: after it, systemd begins the daemon again. */
    int EXIT = 74;

    /**
     * Of a daemon: at once and with nothing more written, as by a kill, which all that it keeps has to stand anyway.
     *
     * @param name its own
     */
    static ProcessAbort halting(String name) {
        Logger log = LoggerFactory.getLogger(ProcessAbort.class);
        return why -> {
            log.error("{} ends, and systemd starts it again: {}; see whether the disk fails or is full", name, why);
            Runtime.getRuntime().halt(EXIT);
        };
    }

    /** @param why in one line, for people */
    void abort(String why);
}
