package org.cloister.protocol.audit;

/** The bytes of a head's envelope that a witness kept, and where they are from. */
public final class WitnessedAuditHead {
    private final String name;
    private final byte[] envelope;

    public WitnessedAuditHead(String name, byte[] envelope) {
        this.name = name;
        this.envelope = envelope.clone();
    }

    /** For people. */
    public String name() {
        return name;
    }

    public byte[] envelope() {
        return envelope.clone();
    }
}
