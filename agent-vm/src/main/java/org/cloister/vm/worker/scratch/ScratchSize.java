package org.cloister.vm.worker.scratch;

import org.cloister.protocol.ticket.ResourceRequest;

/** Computes the size of a scratch disk whose file system offers what a job requested. All sizes are in MiB. */
public final class ScratchSize {
    /** LUKS2's header: both copies of it and what is reserved before the data. */
    private static final int HEADER = 16;

    /**
     * Inodes of 256 bytes, one for each 16 KiB, are a 64th; bitmaps and copies of the descriptors are well below 1 in
     * 450.
     */
    private static final int ONE_IN = 56;

    private static final int FIXED = 8;

    private ScratchSize() {}

    /**
     * Returns the disk's size in MiB.
     *
     * @param offered MiB offered to a job, at least 1
     * @throws IllegalArgumentException if no ticket can request such a disk
     */
    public static int disk(int offered) {
        long disk = HEADER + FIXED + offered + (offered + ONE_IN - 1L) / ONE_IN;
        if (offered < 1 || disk > ResourceRequest.MAX_MIB) {
            throw new IllegalArgumentException("scratch: want a disk of at most " + ResourceRequest.MAX_MIB
                    + " MiB for what a job may ask for, have " + disk + " for " + offered);
        }
        return (int) disk;
    }
}
