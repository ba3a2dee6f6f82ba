package org.cloister.host.reconcile;

import java.util.regex.Pattern;

/**
 * Reason and time of a VM's end; a VM with a recorded reason ends.
 *
 * @param at the step or resource concerned, as its enumeration names it; empty if there is none
 * @param atMs in ms since the epoch
 */
public record VmTermination(Why why, String at, long atMs) {
    private static final Pattern AT = Pattern.compile("[A-Z_]{0,20}");

    /** Cause of the end. */
    public enum Why {
        /** The job or an operator stopped the VM; the guest is first asked to power off. */
        ASKED,
        /** The VM is outside a live step of its job: the step has ended, or the process left it. */
        STEP_GONE,
        /** The domain is gone: the guest powered off, or nothing recorded how it ended. */
        DOMAIN_GONE,
        /** The domain was destroyed by another program, or its process crashed or was killed. */
        DIED,
        /** The domain's CPUs are paused, such as after an error of its disk. */
        STOPPED,
        /** A resource is lost that the VM needs to run or to be cleaned up. */
        LOST,
        /** The guest did not register in time. */
        NOT_REGISTERED,
        /** The guest registered, and later its agent had no session with this host for too long. */
        UNRESPONSIVE,
        /** The daemon ended while it built the VM. */
        INTERRUPTED,
        /** A start step failed. */
        FAILED,
        /** The VM had no ledger entry and is incomplete. */
        ORPHAN,
        /** Another holder acquired the drive with a later epoch. */
        DRIVE_TAKEN,
        /** The lease of the drive could not be checked for too long. */
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
