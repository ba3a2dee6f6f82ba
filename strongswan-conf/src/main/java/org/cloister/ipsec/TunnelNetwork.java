package org.cloister.ipsec;

/**
 * The project's IPv4 network.
 *
 * @param bits 8 to 30
 */
public record TunnelNetwork(TunnelAddress base, int bits) {
    public TunnelNetwork {
        if (bits < 8 || bits > 30 || (base.number() & mask(bits)) != base.number()) {
            throw new IllegalArgumentException(
                    "network: want its first address and 8 to 30 bits, have " + base + "/" + bits);
        }
    }

    public boolean contains(TunnelAddress address) {
        return (address.number() & mask(bits)) == base.number();
    }

    private static long mask(int bits) {
        return (0xffffffffL << (32 - bits)) & 0xffffffffL;
    }

    @Override
    public String toString() {
        return base + "/" + bits;
    }
}
