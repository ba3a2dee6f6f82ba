package org.cloister.luks.volume;

import java.nio.file.Path;

/**
 * An open volume as the kernel has it.
 *
 * @param device what lies under it
 * @param bytes how much can be stored
 * @param cipher such as {@code aes-xts-plain64}, by the kernel's table; empty if it encrypts nothing
 * @param inUse whether something has it open: a mount, a process
 */
public record VolumeMapping(
        MappingName name, Path device, long bytes, String cipher, boolean readOnly, boolean inUse) {}
