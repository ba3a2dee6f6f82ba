package org.cloister.protocol.ticket;

import org.cloister.base.json.StrictJson;

/**
 * IPv4 network of one project's VMs, such as {@code 10.64.12.0/22}.
 *
 * @param first its lowest address; the bits after the prefix are zero
 * @param prefix number of bits that all its addresses share
 */
public record ProjectSubnet(ProjectAddress first, int prefix) {
    /** Longest prefix, with addresses for a controlling VM and one worker. */
    public static final int LONGEST = 30;

    /** Shortest prefix; all of IPv4 is not permitted. */
    public static final int SHORTEST = 8;

    /** @throws IllegalArgumentException if the values are not a network */
    public ProjectSubnet {
        if (prefix < SHORTEST || prefix > LONGEST) {
            throw new IllegalArgumentException(
                    "network: want a prefix of " + SHORTEST + " to " + LONGEST + " bits, have " + prefix);
        }
        if ((first.bits() & ~mask(prefix)) != 0) {
            throw new IllegalArgumentException("network: want nothing behind the prefix, have " + first + "/" + prefix);
        }
    }

    /**
     * Parses a network.
     *
     * @throws IllegalArgumentException if the text is not a network
     */
    public static ProjectSubnet parse(String text) {
        int slash = text.indexOf('/');
        if (slash < 0 || !text.substring(slash + 1).matches("[1-9][0-9]?")) {
            throw new IllegalArgumentException("network: want ADDRESS/BITS, have " + StrictJson.quoted(text));
        }
        return new ProjectSubnet(
                ProjectAddress.parse(text.substring(0, slash)), Integer.parseInt(text.substring(slash + 1)));
    }

    /** Returns the first address for VMs, which is the controlling VM's. */
    public ProjectAddress controller() {
        return new ProjectAddress(first.bits() + 1);
    }

    /**
     * Returns whether a worker may have the address: not the network's own, the controlling VM's or the broadcast
     * address.
     */
    public boolean isForWorkers(ProjectAddress address) {
        int host = address.bits() & ~mask(prefix);
        return (address.bits() & mask(prefix)) == first.bits() && host > 1 && host < ~mask(prefix);
    }

    @Override
    public String toString() {
        return first + "/" + prefix;
    }

    private static int mask(int prefix) {
        return -1 << (Integer.SIZE - prefix);
    }
}
