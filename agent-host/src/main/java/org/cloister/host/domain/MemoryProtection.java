package org.cloister.host.domain;

import org.cloister.protocol.policy.AssuranceLevel;

/** What hides a guest's memory from its host. Later ones hold against more. */
public enum MemoryProtection {
    NONE("none"),
    /** Memory encrypted, with registers where the processor can; the host may still alter and replay it. */
    SEV("sev"),
    /** Memory encrypted and its pages bound to the guest; reports that prove it. */
    SEV_SNP("sev-snp");

    private final String word;

    MemoryProtection(String word) {
        this.word = word;
    }

    /** The least under which a VM can prove that level. */
    public static MemoryProtection requiredFor(AssuranceLevel level) {
        return level == AssuranceLevel.SEV_SNP ? SEV_SNP : NONE;
    }

    /** As libvirt and our configuration call it. */
    @Override
    public String toString() {
        return word;
    }
}
