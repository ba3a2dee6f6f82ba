package org.cloister.protocol.ticket;

/**
 * Memory overhead: a fixed part and a part that grows with the size.
 *
 * @param oneIn number of MiB for which one more MiB is added
 */
public record MemoryReserve(int fixedMib, int oneIn) {
    /** @throws IllegalArgumentException if a value is out of its range */
    public MemoryReserve {
        if (fixedMib < 0 || fixedMib > ResourceRequest.MAX_MIB) {
            throw new IllegalArgumentException(
                    "reserve: want 0 to " + ResourceRequest.MAX_MIB + " MiB, have " + fixedMib);
        }
        if (oneIn < 1 || oneIn > ResourceRequest.MAX_MIB) {
            throw new IllegalArgumentException(
                    "reserve: want one MiB in 1 to " + ResourceRequest.MAX_MIB + ", have one in " + oneIn);
        }
    }

    long with(long mib) {
        return mib + fixedMib + (mib + oneIn - 1) / oneIn;
    }
}
