package org.cloister.ovs;

import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.MacAddress;
import org.jspecify.annotations.Nullable;

/**
 * Addresses of one end of a frame.
 *
 * @param ipv6 null where IPv6 is closed
 */
public record Endpoint(
        MacAddress mac, Ipv4Address ipv4, @Nullable Ipv6Address ipv6) implements Comparable<Endpoint> {
    public static Endpoint of(MacAddress mac, Ipv4Address ipv4) {
        return new Endpoint(mac, ipv4, null);
    }

    @Override
    public int compareTo(Endpoint other) {
        int order = mac.compareTo(other.mac);
        if (order == 0) {
            order = ipv4.compareTo(other.ipv4);
        }
        return order == 0 ? String.valueOf(ipv6).compareTo(String.valueOf(other.ipv6)) : order;
    }

    /** Returns {@code MAC=IPV4[=IPV6]}, which {@link #parse} reads. */
    @Override
    public String toString() {
        return mac + "=" + ipv4 + (ipv6 == null ? "" : "=" + ipv6);
    }

    static Endpoint parse(String text) {
        String[] parts = text.split("=", -1);
        if (parts.length < 2 || parts.length > 3) {
            throw new IllegalArgumentException("endpoint: want MAC=IPV4 or MAC=IPV4=IPV6, have \"" + text + "\"");
        }
        return new Endpoint(
                new MacAddress(parts[0]),
                new Ipv4Address(parts[1]),
                parts.length == 3 ? new Ipv6Address(parts[2]) : null);
    }
}
