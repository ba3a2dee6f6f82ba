package org.cloister.host.control;

import java.util.Locale;

/**
 * Result of a job step's VM: how it ended, or why it did not start.
 *
 * @param phase the last phase that was reached, or the one that failed
 * @param text for people
 * @param hint what to do; empty if there is nothing
 */
public record VmRunResult(Code code, VmRunPhase phase, String text, String hint) {
    /** Code that callers branch on. A released name never changes. */
    public enum Code {
        /** The guest powered off by itself. */
        DONE,
        /** The job or an operator stopped the VM. */
        STOPPED,
        /** The ticket, the allocation or the caller failed a check. */
        REFUSED,
        /** Relay, Slurm, libvirt or the bridge did not answer; a retry may succeed. */
        UNAVAILABLE,
        /** The VM failed: it crashed, or never registered. */
        GUEST,
        /** This host failed and needs an operator's attention. */
        HOST;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
