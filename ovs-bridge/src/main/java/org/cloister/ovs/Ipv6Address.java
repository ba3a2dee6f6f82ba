package org.cloister.ovs;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.regex.Pattern;

/** A host's global or unique local IPv6 address, in the full spelling of eight groups that {@link #parse} produces. */
public record Ipv6Address(String text) implements Comparable<Ipv6Address> {
    /** Excludes text that a resolver would read as a name, zones and embedded IPv4. */
    private static final Pattern FORM = Pattern.compile("[0-9a-f:]{2,39}");

    public Ipv6Address {
        if (!spelled(resolve(text)).equals(text)) {
            throw new IllegalArgumentException("IPv6 address: want " + spelled(resolve(text)) + ", have " + text);
        }
    }

    public static Ipv6Address parse(String text) {
        return new Ipv6Address(spelled(resolve(text)));
    }

    byte[] bytes() {
        return resolve(text).getAddress();
    }

    /**
     * Returns the solicited-node multicast address, on which neighbours ask for this address (RFC 4291, section 2.7.1).
     */
    byte[] solicitedNode() {
        byte[] own = bytes();
        byte[] group = new byte[16];
        group[0] = (byte) 0xff;
        group[1] = 2;
        group[11] = 1;
        group[12] = (byte) 0xff;
        System.arraycopy(own, 13, group, 13, 3);
        return group;
    }

    /** Returns the Ethernet address of that group (RFC 2464, section 7). */
    byte[] solicitedNodeMac() {
        byte[] own = bytes();
        return new byte[] {0x33, 0x33, (byte) 0xff, own[13], own[14], own[15]};
    }

    @Override
    public int compareTo(Ipv6Address other) {
        return text.compareTo(other.text);
    }

    @Override
    public String toString() {
        return text;
    }

    private static String spelled(Inet6Address address) {
        return address.getHostAddress();
    }

    private static Inet6Address resolve(String text) {
        if (FORM.matcher(text).matches() && text.indexOf(':') >= 0) {
            try {
                if (InetAddress.getByName(text) instanceof Inet6Address address
                        && !address.isMulticastAddress()
                        && !address.isLinkLocalAddress()
                        && !address.isLoopbackAddress()
                        && !address.isAnyLocalAddress()) {
                    return address;
                }
            } catch (UnknownHostException e) {
                throw new IllegalArgumentException(
                        "IPv6 address: want groups joined by colons, have \"" + text + "\"", e);
            }
        }
        throw new IllegalArgumentException("IPv6 address: want a global or unique local one, have \"" + text + "\"");
    }
}
