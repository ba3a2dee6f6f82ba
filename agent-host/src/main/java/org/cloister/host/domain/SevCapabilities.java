package org.cloister.host.domain;

/**
 * Memory protection that a host's processor, firmware, kernel, QEMU and libvirt support together, as libvirt reports
 * it.
 *
 * @param best NONE if there is no support; a host with SEV-SNP has SEV, too
 * @param encryptedState whether SEV guests' registers are encrypted as well
 */
public record SevCapabilities(MemoryProtection best, boolean encryptedState) {
    public static final SevCapabilities NONE = new SevCapabilities(MemoryProtection.NONE, false);
}
