package org.cloister.ipsec;

import java.util.regex.Pattern;

/**
 * The other end of a tunnel, pinned: this identity at this address, and only packets between the two addresses.
 *
 * @param name short, for people; the connection is {@code cloister-NAME}
 */
public record PinnedPeer(String name, TunnelIdentity identity, TunnelAddress address, Start start) {
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9-]{0,62}");

    /** Who makes the tunnel. */
    public enum Start {
        /** We do, at once, and again until the peer answers. One of the two ends. */
        INITIATE,
        /** The first packet does, on either side. In user space, where that cannot be, the lower address initiates. */
        ON_DEMAND,
        /** The peer does. */
        WAIT
    }

    public PinnedPeer {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("peer: want a name of a-z, 0-9 and -, have " + name);
        }
    }
}
