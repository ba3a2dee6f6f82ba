package org.cloister.ipsec;

import java.time.Duration;

/**
 * Lifetimes of keys.
 *
 * @param child until a tunnel gets new keys
 * @param ike until the IKE SA that manages it gets new keys
 * @param authentication until the peer has to authenticate again: the longest time for which an expired certificate can
 *     be used
 */
public record TunnelKeyLifetimes(Duration child, Duration ike, Duration authentication) {
    /** Default lifetimes. ESP without extended sequence numbers has 2^32 packets a key: 80 minutes at 10 Gbit/s. */
    public static final TunnelKeyLifetimes DEFAULT =
            new TunnelKeyLifetimes(Duration.ofMinutes(30), Duration.ofHours(2), Duration.ofHours(8));

    public TunnelKeyLifetimes {
        if (child.toSeconds() < 1 || ike.compareTo(child) < 0 || authentication.compareTo(ike) < 0) {
            throw new IllegalArgumentException("lifetimes: want 1 s <= child <= ike <= authentication, have " + child
                    + ", " + ike + ", " + authentication);
        }
    }
}
