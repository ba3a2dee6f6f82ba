package org.cloister.host.disk;

import org.cloister.host.vm.VmOwner;

/**
 * What was done to a scratch file, for a signed record.
 *
 * @param bytes of the file, holes too; 0 if an earlier try had come so far
 * @param overwritten of them; 0 unless the method overwrites
 */
public record Erasure(VmOwner owner, Erasing method, long bytes, long overwritten) {}
