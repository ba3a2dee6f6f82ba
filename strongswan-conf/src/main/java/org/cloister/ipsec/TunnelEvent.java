package org.cloister.ipsec;

import org.jspecify.annotations.Nullable;

/** Change of a tunnel's state, by its peer's name, or of charon's. */
public sealed interface TunnelEvent {
    /** Packets pass through the tunnel. */
    record Up(String peer) implements TunnelEvent {}

    /** The same tunnel has new keys. */
    record Rekeyed(String peer) implements TunnelEvent {}

    /**
     * No packet passes through the tunnel, and the guard lets none pass beside it.
     *
     * @param cause null when charon did not report one
     */
    record Down(String peer, @Nullable TunnelFailureCause cause) implements TunnelEvent {}

    /** charon answers or does not answer; while it does not, no tunnel counts as up. */
    record CharonState(boolean answers, String why) implements TunnelEvent {}
}
