package org.cloister.host.scratch;

/** How a scratch file's bytes are done away with, before its name is. */
public enum ErasureMethod {
    /**
     * The blocks go back to the file system at once, which hands them to the device as its mount says ({@code discard}, or
     * fstrim). What lies in them was encrypted by the VM under a key that died with it.
     */
    DISCARD,
    /**
     * Zeros over everything that was written, on the device, and then as {@link #DISCARD}. It reads the whole file, holes
     * too, which takes a second or more for every GiB. A device that writes elsewhere, as flash does, keeps old blocks.
     */
    OVERWRITE
}
