package org.cloister.vm.controller.unlock;

import java.util.Locale;

/** Why a VM does not take what its opener brings, in the word that it says. */
public enum UnlockRefusal {
    /** Made for another opening, VM or question. */
    PLACE,
    /** The project's documents: not its own, older than those of the assignment, or another branch. */
    DOCUMENTS,
    /** Certificates: another key, another name, or nobody's whom the documents name. */
    AUTHORITY,
    /** The policy: another project's, not signed by enough owners, or it does not hold. */
    POLICY,
    /** The drive's key: sealed for another VM, question or epoch. */
    KEY,
    /** Documents that are older than those that the drive has seen, or another branch. */
    OLDER_DOCUMENTS,
    /** A policy that is older than one that the drive has seen, or no successor of it. */
    OLDER_POLICY,
    /** The members' file that was brought is none. */
    MEMBERS,
    /** The settings' file that was brought is none. */
    SETTINGS,
    /** Nobody brought settings, and the drive has none. */
    NO_SETTINGS,
    /** A member would get a uid that was another's on this drive, or has another one than before. */
    UIDS,
    /** This VM is being opened, or has been with another epoch. */
    OPENED,
    /** This VM could write memory to a disk in clear. */
    CLEAR_SWAP,
    /** A step in this VM failed. */
    CONTROLLER;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
