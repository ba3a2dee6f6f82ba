package org.cloister.host.reconcile;

import java.util.regex.Pattern;

/**
 * Why a VM ends; once it is written down, it ends.
 *
 * @param at the step or part in question, as its enumeration names it; empty for none
 * @param atMs since the epoch
 */
public record VmTermination(Why why, String at, long atMs) {
    private static final Pattern AT = Pattern.compile("[A-Z_]{0,20}");

    /** How it came to it. */
    public enum Why {
        /** By its job or an operator: the guest is asked to power off first. */
        ASKED,
        /** It is not in a living step of its job: the step has ended, or the process left it. */
        STEP_GONE,
        /** Its domain is gone: the guest powered off, or nobody saw how it ended. */
        DOMAIN_GONE,
        /** Its domain was destroyed by somebody else, or its process crashed or was killed. */
        DIED,
        /** The domain is there and its CPUs stand still, as after an error of its disk. */
        STOPPED,
        /** A part without which it cannot go on or be cleaned up after is gone. */
        LOST,
        /** Its guest did not speak in time. */
        NOT_REGISTERED,
        /** The daemon ended while it was built. */
        INTERRUPTED,
        /** A step failed. */
        FAILED,
        /** Nothing was written of it, and it is not whole. */
        ORPHAN,
        /** Its drive is somebody's by a later epoch. */
        DRIVE_TAKEN,
        /** For too long nobody could see whether its drive is still its own. */
        DRIVE_SILENT
    }

    /** @throws IllegalArgumentException if a value is out of its range */
    public VmTermination {
        if (!AT.matcher(at).matches()) {
            throw new IllegalArgumentException("end: at: want " + AT + ", have \"" + at + "\"");
        }
        if (atMs < 0) {
            throw new IllegalArgumentException("end: time: want ms since 1970, have " + atMs);
        }
    }
}
