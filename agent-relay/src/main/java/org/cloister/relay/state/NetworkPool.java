package org.cloister.relay.state;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Set;
import org.cloister.base.address.Ipv4Network;

/**
 * Range of VLANs and addresses that may be allocated.
 *
 * <p>A VLAN's number alone determines its network. Host 1 is its controlling VM, workers have the hosts from 2 to the
 * one before the broadcast address.
 *
 * @param network network of all projects; each VLAN has a part of it
 * @param prefix prefix length of a VLAN's network, in bits
 * @param firstVlan 1 to 4094, IEEE 802.1Q
 * @param lastVlan 1 to 4094, at least {@code firstVlan}
 * @param reserved VLANs in that range that the site uses otherwise
 * @param reuseDelay time for which a released number is not allocated again, in whole seconds while a relay runs
 */
public record NetworkPool(
        Ipv4Network network, int prefix, int firstVlan, int lastVlan, Set<Integer> reserved, Duration reuseDelay) {
    /** Host number of a controlling VM in its project's network. */
    public static final int CONTROLLER = 1;
    /** First host number of workers. */
    public static final int FIRST_HOST = 2;

    private static final int LAST_VLAN = 4094;
    private static final int WIDEST = 16;
    private static final int NARROWEST = 29;
    private static final Duration LONGEST_REST = Duration.ofDays(7);

    public static final NetworkPool DEFAULT =
            new NetworkPool(Ipv4Network.parse("10.64.0.0/10"), 22, 100, 4094, Set.of(), Duration.ofMinutes(10));

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException with the expected and the actual value
     */
    public NetworkPool {
        reserved = Set.copyOf(reserved);
        if (firstVlan < 1 || lastVlan > LAST_VLAN || firstVlan > lastVlan) {
            throw new IllegalArgumentException(
                    "VLANs: want a range within 1 to " + LAST_VLAN + ", have " + firstVlan + " to " + lastVlan);
        }
        if (prefix < WIDEST || prefix > NARROWEST) {
            throw new IllegalArgumentException(
                    "prefix of a VLAN's network: want " + WIDEST + " to " + NARROWEST + " bits, have " + prefix);
        }
        if (prefix < network.prefix() || 1L << (prefix - network.prefix()) <= lastVlan) {
            throw new IllegalArgumentException("network: want one that has " + (lastVlan + 1) + " networks of " + prefix
                    + " bits, one for each VLAN up to " + lastVlan + ", have " + network);
        }
        if (reuseDelay.isNegative()
                || reuseDelay.compareTo(LONGEST_REST) > 0
                || !reuseDelay.equals(reuseDelay.truncatedTo(ChronoUnit.SECONDS))) {
            throw new IllegalArgumentException(
                    "rest: want whole seconds up to " + LONGEST_REST.toDays() + " days, have " + reuseDelay);
        }
    }

    public Ipv4Network network(int vlan) {
        return network.subnet(prefix, vlan);
    }

    public boolean has(int vlan) {
        return vlan >= firstVlan && vlan <= lastVlan && !reserved.contains(vlan);
    }

    /** Returns the highest host number of a worker. */
    public int lastHost() {
        return (1 << (32 - prefix)) - 2;
    }

    /** Returns the number of workers that fit into one VLAN. */
    public int hosts() {
        return lastHost() - FIRST_HOST + 1;
    }
}
