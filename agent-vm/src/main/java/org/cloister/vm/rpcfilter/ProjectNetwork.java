package org.cloister.vm.rpcfilter;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The project's network, and the loopback addresses of this machine that represent the project's machines: 127 and the
 * last three numbers of the machine's address. A socket needs no privilege to have such an address; the nftables table
 * that agent-vm installs translates it to the worker's address before slurmctld sees it.
 *
 * @param own this machine's address there
 * @param bits of the network's prefix, 8 to 30
 */
record ProjectNetwork(Inet4Address own, int bits) {
    private static final Pattern TEXT = Pattern.compile("([0-9]{1,3}(?:\\.[0-9]{1,3}){3})/([0-9]{1,2})");
    private static final int MIN_BITS = 8;
    private static final int MAX_BITS = 30;
    private static final int LOOPBACK = 127 << 24;
    private static final int HOST_MASK = 0xffffff;

    ProjectNetwork {
        if (bits < MIN_BITS || bits > MAX_BITS) {
            throw new IllegalArgumentException(
                    "prefix: expected " + MIN_BITS + " to " + MAX_BITS + " bits, got " + bits);
        }
    }

    /**
     * Parses an address with a prefix.
     *
     * @param text such as {@code 10.70.0.1/16}
     */
    static ProjectNetwork parse(String text) {
        Matcher match = TEXT.matcher(text);
        if (!match.matches()) {
            throw new IllegalArgumentException("address: expected A.B.C.D/BITS");
        }
        try {
            // Four numbers: no name is resolved.
            if (InetAddress.getByName(match.group(1)) instanceof Inet4Address own) {
                return new ProjectNetwork(own, Integer.parseInt(match.group(2)));
            }
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("address: expected A.B.C.D/BITS", e);
        }
        throw new IllegalArgumentException("address: expected one of version 4");
    }

    /**
     * Returns the loopback address that represents a peer.
     *
     * @return empty if the peer is not another machine of this network
     */
    Optional<InetAddress> loopbackAlias(InetAddress peer) {
        if (!(peer instanceof Inet4Address) || peer.equals(own)) {
            return Optional.empty();
        }
        int number = number(peer);
        if ((number ^ number(own)) >>> (32 - bits) != 0) {
            return Optional.empty();
        }
        return Optional.of(address(LOOPBACK | (number & HOST_MASK)));
    }

    private static int number(InetAddress address) {
        return ByteBuffer.wrap(address.getAddress()).getInt();
    }

    private static InetAddress address(int number) {
        try {
            return InetAddress.getByAddress(
                    ByteBuffer.allocate(Integer.BYTES).putInt(number).array());
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }
}
