package org.cloister.ipsec;

import org.jspecify.annotations.Nullable;

/** What became of a tunnel, by its peer's name. */
public sealed interface TunnelEvent {
    String peer();

    /** Packets go through. */
    record Up(String peer) implements TunnelEvent {}

    /** The same tunnel with new keys. */
    record Rekeyed(String peer) implements TunnelEvent {}

    /**
     * No packet goes through, and the guard lets none pass beside it.
     *
     * @param cause null when charon did not say
     */
    record Down(String peer, @Nullable TunnelFailureCause cause) implements TunnelEvent {}

    /** charon is there or not; while it is not, no tunnel is trusted to be up. */
    record CharonState(boolean answers, String why) implements TunnelEvent {
        @Override
        public String peer() {
            return "";
        }
    }
}
