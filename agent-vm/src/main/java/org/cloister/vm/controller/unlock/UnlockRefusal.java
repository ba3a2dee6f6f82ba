package org.cloister.vm.controller.unlock;

import java.util.Locale;

/** Reason why a VM refuses an unlock, by the word that it sends. */
public enum UnlockRefusal {
    /** The unlock was made for another opening, VM or attestation nonce. */
    PLACE,
    /** The documents are another project's, older than those of the assignment, or of another branch. */
    DOCUMENTS,
    /** The certificates have another key or name, or their issuer is not in the documents. */
    AUTHORITY,
    /** The policy is another project's, not signed by enough owners, or not valid now. */
    POLICY,
    /** The drive's key is sealed for another VM, attestation nonce or epoch. */
    KEY,
    /** The documents are older than those that the drive has seen, or of another branch. */
    OLDER_DOCUMENTS,
    /** The policy is older than one that the drive has seen, or does not succeed it. */
    OLDER_POLICY,
    /** The members' file is invalid. */
    MEMBERS,
    /** The settings' file is invalid. */
    SETTINGS,
    /** The unlock has no settings, and the drive has none. */
    NO_SETTINGS,
    /** A member would get a UID that was another's on this drive, or has a different one than before. */
    UIDS,
    /** This VM is being opened, or was opened with another epoch. */
    OPENED,
    /** This VM could write memory to a disk unencrypted. */
    CLEAR_SWAP,
    /** A step in this VM failed. */
    CONTROLLER;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
