package org.cloister.protocol.policy;

/** Levels of what a VM's evidence rests on. Higher levels defend against more attackers. */
public enum AssuranceLevel {
    /** The host's signature. */
    HOST_WORD(0, "the host's word"),
    /** A quote of the host's TPM. */
    HOST_TPM(1, "host TPM quote"),
    /** A report of the processor about the guest. */
    SEV_SNP(2, "SEV-SNP report");

    private final int number;
    private final String title;

    AssuranceLevel(int number, String title) {
        this.number = number;
        this.title = title;
    }

    /**
     * Returns the level of a job, which is that of its weakest part. Every host on the path controls unencrypted
     * traffic between workers, and a drive whose changes are not detected: both count as level 0.
     *
     * @param evidence as verified, not as offered
     */
    public static AssuranceLevel minimum(AssuranceLevel evidence, boolean workerEncryption, boolean driveIntegrity) {
        return workerEncryption && driveIntegrity ? evidence : HOST_WORD;
    }

    /**
     * Returns the level with that number.
     *
     * @throws IllegalArgumentException if no level has that number
     */
    public static AssuranceLevel of(long number) {
        for (AssuranceLevel level : values()) {
            if (level.number == number) {
                return level;
            }
        }
        throw new IllegalArgumentException("assurance level: want 0 to " + SEV_SNP.number + ", have " + number);
    }

    public int number() {
        return number;
    }

    @Override
    public String toString() {
        return number + " (" + title + ")";
    }
}
