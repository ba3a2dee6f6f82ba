package org.cloister.luks.volume;

import java.nio.file.Path;

/**
 * An open volume as the kernel reports it.
 *
 * @param device the device below it
 * @param bytes usable size
 * @param cipher such as {@code aes-xts-plain64}, by the kernel's table; empty if it encrypts nothing
 * @param inUse whether it is open, by a mount or a process
 */
public record VolumeMapping(
        MappingName name, Path device, long bytes, String cipher, boolean readOnly, boolean inUse) {}
