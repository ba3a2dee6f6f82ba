package org.cloister.ipsec;

import java.util.regex.Pattern;
import org.cloister.base.address.Ipv4Address;

/**
 * The pinned other end of a tunnel: this identity at this address, and only packets between the two addresses.
 *
 * @param name short, for people; the connection is {@code cloister-NAME}
 */
public record PinnedPeer(String name, TunnelIdentity identity, Ipv4Address address, Start start) {
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9-]{0,62}");

    /** Initiator of the tunnel. */
    public enum Start {
        /** This end initiates at once, and retries until the peer answers. Only one of the two ends has this value. */
        INITIATE,
        /**
         * The first packet at either end initiates. In user space, which cannot do that, the lower address initiates.
         */
        ON_DEMAND,
        /** The peer initiates. */
        WAIT
    }

    public PinnedPeer {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("peer: want a name of a-z, 0-9 and -, have " + name);
        }
    }
}
