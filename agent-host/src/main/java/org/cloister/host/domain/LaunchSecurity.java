package org.cloister.host.domain;

import java.util.Locale;

/**
 * Launch security of a guest, as libvirt configures it. The kernel, initrd and command line are measured with the
 * firmware, which must be able to verify them (OVMF's AmdSev build is).
 *
 * @param protection not NONE
 * @param encryptedState for SEV: whether registers are encrypted, too
 */
public record LaunchSecurity(MemoryProtection protection, boolean encryptedState) {
    /**
     * AMD SEV API, "Guest Policy": no debugging (bit 0), no sharing of keys (1), no sending to another host (3) or
     * outside its domain (4), SEV hosts only (5).
     */
    private static final int SEV_POLICY = 0b11_1011;

    private static final int SEV_ENCRYPTED_STATE = 0b100;
    /**
     * SEV-SNP ABI, "Guest Policy": SMT allowed (bit 16), reserved and one (17); no migration (18), no debugging (19).
     */
    private static final int SNP_POLICY = 0x3_0000;

    /**
     * @throws IllegalArgumentException if it protects nothing, or if {@code encryptedState} is set for SEV-SNP, which
     *     implies it
     */
    public LaunchSecurity {
        if (protection == MemoryProtection.NONE || (encryptedState && protection != MemoryProtection.SEV)) {
            throw new IllegalArgumentException("launch security: want sev or sev-snp, and encrypted state said of sev"
                    + " alone, have " + protection + " and " + encryptedState);
        }
    }

    String policy() {
        int policy = protection == MemoryProtection.SEV_SNP ? SNP_POLICY : SEV_POLICY;
        return String.format(Locale.ROOT, "0x%04x", policy | (encryptedState ? SEV_ENCRYPTED_STATE : 0));
    }
}
