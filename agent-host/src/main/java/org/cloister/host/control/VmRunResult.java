package org.cloister.host.control;

import java.util.Locale;

/**
 * How a job step's VM ended, or why it never began.
 *
 * @param phase the last that was reached, or the one that failed
 * @param text for people
 * @param hint what to do; empty if there is nothing
 */
public record VmRunResult(Code code, VmRunPhase phase, String text, String hint) {
    /** What to branch on. A word stays what it is once it was in a release. */
    public enum Code {
        /** The guest powered off of its own accord. */
        DONE,
        /** Its job, or an operator, wanted it to end. */
        STOPPED,
        /** The ticket, the allocation or the caller is not what it must be. */
        REFUSED,
        /** Relay, Slurm, libvirt or the bridge gave no answer: a new try may do. */
        UNAVAILABLE,
        /** The VM's own fault: it crashed, or never spoke. */
        GUEST,
        /** This host's fault: it is to be looked at. */
        HOST;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
