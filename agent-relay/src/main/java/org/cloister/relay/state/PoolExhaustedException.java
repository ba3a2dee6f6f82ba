package org.cloister.relay.state;

/** Thrown when no VLAN or too few addresses are free. */
public final class PoolExhaustedException extends StateConflictException {
    private static final long serialVersionUID = 1;

    private final int needed;
    private final int free;

    PoolExhaustedException(String what, int needed, int free, long resting) {
        super(what + ": " + needed + " needed, " + free + " free"
                + (resting > 0 ? ", and " + resting + " that wait for reuse" : ""));
        this.needed = needed;
        this.free = free;
    }

    public int wanted() {
        return needed;
    }

    public int free() {
        return free;
    }
}
