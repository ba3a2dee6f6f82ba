package org.cloister.host.scratch;

/** Method by which a scratch file's content is erased, before its name is removed. */
public enum ErasureMethod {
    /**
     * Returns the blocks to the file system at once, which discards them on the device as its mount option says ({@code
     * discard}, or fstrim). Their content was encrypted by the VM under a key that was lost with it.
     */
    DISCARD,
    /**
     * Overwrites everything that was written with zeros, on the device, and then proceeds as {@link #DISCARD}. It reads
     * the whole file including holes, which takes a second or more per GiB. A device that remaps writes, such as flash,
     * keeps old blocks.
     */
    OVERWRITE
}
