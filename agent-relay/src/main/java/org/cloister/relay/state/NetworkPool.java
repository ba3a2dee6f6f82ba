package org.cloister.relay.state;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Set;
import org.cloister.base.address.Ipv4Network;

/**
 * Which VLANs and addresses there are to give away.
 *
 * <p>A VLAN's network is found by its number alone. Host 1 is its controlling VM's, workers have 2 up to the one before
 * the broadcast address.
 *
 * @param network of all projects; each VLAN has a part of it
 * @param prefix of a VLAN's network, in bits
 * @param firstVlan 1 to 4094, IEEE 802.1Q
 * @param lastVlan the same; at least the first one
 * @param reserved VLANs in that range which the site uses otherwise
 * @param reuseDelay what is given back is not given away again for so long, whole seconds while a relay runs
 */
public record NetworkPool(
        Ipv4Network network, int prefix, int firstVlan, int lastVlan, Set<Integer> reserved, Duration reuseDelay) {
    /** Of a controlling VM, in its project's network. */
    public static final int CONTROLLER = 1;
    /** The first one of workers. */
    public static final int FIRST_HOST = 2;

    private static final int LAST_VLAN = 4094;
    private static final int WIDEST = 16;
    private static final int NARROWEST = 29;
    private static final Duration LONGEST_REST = Duration.ofDays(7);

    public static final NetworkPool DEFAULT =
            new NetworkPool(Ipv4Network.parse("10.64.0.0/10"), 22, 100, 4094, Set.of(), Duration.ofMinutes(10));

    /** @throws IllegalArgumentException with what was wanted and what there is */
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

    /** The highest host number of a worker. */
    public int lastHost() {
        return (1 << (32 - prefix)) - 2;
    }

    /** Workers that fit into one VLAN. */
    public int hosts() {
        return lastHost() - FIRST_HOST + 1;
    }
}
