package org.cloister.ipsec;

import java.time.Duration;

/**
 * How long keys are used.
 *
 * @param child until a tunnel gets new keys
 * @param ike until the connection that manages it gets new keys
 * @param authentication until the peer has to show its certificate again: the longest that one which expired can be used
 */
public record TunnelKeyLifetimes(Duration child, Duration ike, Duration authentication) {
    /** ESP without extended numbers has 2^32 packets a key: 80 minutes at 10 Gbit/s. */
    public static final TunnelKeyLifetimes DEFAULT =
            new TunnelKeyLifetimes(Duration.ofMinutes(30), Duration.ofHours(2), Duration.ofHours(8));

    public TunnelKeyLifetimes {
        if (child.toSeconds() < 1 || ike.compareTo(child) < 0 || authentication.compareTo(ike) < 0) {
            throw new IllegalArgumentException("lifetimes: want 1 s <= child <= ike <= authentication, have " + child
                    + ", " + ike + ", " + authentication);
        }
    }
}
