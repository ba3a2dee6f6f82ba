package org.cloister.host.domain;

/** Protection of a guest's memory from its host. Later constants protect against more. */
public enum MemoryProtection {
    NONE("none"),
    /**
     * Encrypted memory, with encrypted registers where the processor supports it; the host may still alter and replay
     * it.
     */
    SEV("sev"),
    /** Encrypted memory whose pages are bound to the guest, and attestation reports that prove it. */
    SEV_SNP("sev-snp");

    private final String word;

    MemoryProtection(String word) {
        this.word = word;
    }

    /** Returns the name used in libvirt and in our configuration. */
    @Override
    public String toString() {
        return word;
    }
}
