package org.cloister.host.scratch;

import org.cloister.host.vm.ResourceOwner;

/**
 * What was done to a scratch file, for a signed record.
 *
 * @param bytes of the file, holes too; 0 if an earlier try had come so far
 * @param overwritten of them; 0 unless the method overwrites
 */
public record ScratchFileErasure(ResourceOwner owner, ErasureMethod method, long bytes, long overwritten) {}
