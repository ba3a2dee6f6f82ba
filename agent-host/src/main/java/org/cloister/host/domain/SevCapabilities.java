package org.cloister.host.domain;

/**
 * What a host's processor, firmware, kernel, QEMU and libvirt can do together, as libvirt says it.
 *
 * @param best NONE if there is nothing; a host that knows SEV-SNP knows SEV too
 * @param encryptedState whether SEV guests' registers are encrypted as well
 */
public record SevCapabilities(MemoryProtection best, boolean encryptedState) {
    public static final SevCapabilities NONE = new SevCapabilities(MemoryProtection.NONE, false);
}
