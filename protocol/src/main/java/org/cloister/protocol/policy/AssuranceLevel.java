package org.cloister.protocol.policy;

/** On whose word a VM is what it says. Higher ones hold against more. */
public enum AssuranceLevel {
    /** The host's signed word. */
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
     * A job's level is that of its weakest part. Traffic between workers that is not encrypted, and a drive whose changes
     * nobody notices, are in the hands of every host on the way: they count 0.
     *
     * @param evidence as verified, not as offered
     */
    public static AssuranceLevel minimum(AssuranceLevel evidence, boolean workerEncryption, boolean driveIntegrity) {
        return workerEncryption && driveIntegrity ? evidence : HOST_WORD;
    }

    /** @throws IllegalArgumentException if there is none of that number */
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
