package org.cloister.protocol.audit;

/** Envelope of a head that a witness stored, with the name of its source. */
public final class WitnessedAuditHead {
    private final String name;
    private final byte[] envelope;

    public WitnessedAuditHead(String name, byte[] envelope) {
        this.name = name;
        this.envelope = envelope.clone();
    }

    /** Returns the name of the source, for people. */
    public String name() {
        return name;
    }

    public byte[] envelope() {
        return envelope.clone();
    }
}
