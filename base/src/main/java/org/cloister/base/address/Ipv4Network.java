package org.cloister.base.address;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An IPv4 prefix (RFC 4632), such as {@code 10.64.12.0/22}.
 *
 * @param base its first address as an unsigned number; the bits after the prefix are zero
 * @param prefix length in bits, 0 to 32
 */
public record Ipv4Network(long base, int prefix) {
    private static final int BITS = 32;
    private static final Pattern FORM = Pattern.compile("(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})/(\\d{1,2})");

    public Ipv4Network {
        if (prefix < 0 || prefix > BITS) {
            throw new IllegalArgumentException("prefix: want 0 to " + BITS + " bits, have " + prefix);
        }
        if (base < 0 || base >= 1L << BITS || base % (1L << (BITS - prefix)) != 0) {
            throw new IllegalArgumentException("network: want an address whose last " + (BITS - prefix)
                    + " bits are zero, have " + dotted(base) + "/" + prefix);
        }
    }

    /**
     * Parses a network.
     *
     * @throws IllegalArgumentException if it is not one address in dotted form, a slash, and the prefix's length
     */
    public static Ipv4Network parse(String text) {
        Matcher match = FORM.matcher(text);
        if (!match.matches()) {
            throw new IllegalArgumentException("network: want a form such as 10.64.0.0/10, have \"" + text + "\"");
        }
        long base = 0;
        for (int i = 1; i <= 4; i++) {
            int part = Integer.parseInt(match.group(i));
            if (part > 255) {
                throw new IllegalArgumentException("network: want parts of 0 to 255, have \"" + text + "\"");
            }
            base = base << 8 | part;
        }
        return new Ipv4Network(base, Integer.parseInt(match.group(5)));
    }

    /**
     * Returns the network of {@code prefix} bits that has the address.
     *
     * @throws IllegalArgumentException if the prefix is not 0 to 32 bits
     */
    public static Ipv4Network of(Ipv4Address address, int prefix) {
        long host = (1L << (BITS - prefix)) - 1;
        return new Ipv4Network(address.number() & ~host, prefix);
    }

    /** Returns whether the address is in this network. */
    public boolean contains(Ipv4Address address) {
        return address.number() >= base && address.number() < base + size();
    }

    /** Returns the number of addresses, including the network's own and the broadcast address. */
    public long size() {
        return 1L << (BITS - prefix);
    }

    /** Returns the {@code number}-th network of {@code longer} bits within this one, counted from 0. */
    public Ipv4Network subnet(int longer, long number) {
        long count = 1L << (longer - prefix);
        if (longer < prefix || longer > BITS || number < 0 || number >= count) {
            throw new IllegalArgumentException(this + ": want one of " + count + " subnets, have " + number);
        }
        return new Ipv4Network(base + (number << (BITS - longer)), longer);
    }

    /**
     * Returns an address in dotted form.
     *
     * @param host from 0, the network's own address
     */
    public String address(long host) {
        if (host < 0 || host >= size()) {
            throw new IllegalArgumentException(this + ": want host 0 to " + (size() - 1) + ", have " + host);
        }
        return dotted(base + host);
    }

    @Override
    public String toString() {
        return dotted(base) + "/" + prefix;
    }

    private static String dotted(long address) {
        return (address >> 24 & 255) + "." + (address >> 16 & 255) + "." + (address >> 8 & 255) + "." + (address & 255);
    }
}
