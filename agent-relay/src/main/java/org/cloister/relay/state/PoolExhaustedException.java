package org.cloister.relay.state;

/** Thrown when no VLAN or too few addresses are free. */
public final class PoolExhaustedException extends StateConflictException {
    private static final long serialVersionUID = 1;

    private final int wanted;
    private final int free;

    PoolExhaustedException(String what, int wanted, int free, long resting) {
        super(what + ": " + wanted + " needed, " + free + " free"
                + (resting > 0 ? ", and " + resting + " that wait for reuse" : ""));
        this.wanted = wanted;
        this.free = free;
    }

    public int wanted() {
        return wanted;
    }

    public int free() {
        return free;
    }
}
