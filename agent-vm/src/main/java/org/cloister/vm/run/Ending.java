package org.cloister.vm.run;

/** Ends this VM, for good. */
@FunctionalInterface
public interface Ending {
    /** @param why for whoever reads the log; may be called more than once */
    void end(String why);
}
