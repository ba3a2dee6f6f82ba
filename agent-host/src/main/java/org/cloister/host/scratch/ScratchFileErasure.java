package org.cloister.host.scratch;

import org.cloister.host.vm.ResourceOwner;

/**
 * Record of a scratch file's erasure, for a signed statement.
 *
 * @param bytes length of the file, including holes; 0 if an earlier attempt had truncated it
 * @param overwritten bytes of them; 0 unless the method overwrites
 */
public record ScratchFileErasure(ResourceOwner owner, ErasureMethod method, long bytes, long overwritten) {}
