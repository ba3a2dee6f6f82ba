package org.cloister.ovs.dns;

import java.math.BigInteger;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A range of addresses with a common prefix, in the form {@code 10.77.0.0/16} or {@code fd00:77::/32}. */
public record AddressPrefix(InetAddress first, int bits) {
    /** Excludes text that a resolver would read as a name. */
    private static final Pattern FORM =
            Pattern.compile("(\\d{1,3}(?:\\.\\d{1,3}){3}|[0-9a-f:]*:[0-9a-f:]*)/(\\d{1,3})");

    public AddressPrefix {
        int all = first.getAddress().length * Byte.SIZE;
        if (bits < 0 || bits > all) {
            throw new IllegalArgumentException("range: want 0 to " + all + " bits, have " + bits);
        }
        BigInteger rest = BigInteger.ONE.shiftLeft(all - bits).subtract(BigInteger.ONE);
        if (number(first).and(rest).signum() != 0) {
            throw new IllegalArgumentException("range: want nothing but zeros behind its " + bits + " bits, have "
                    + first.getHostAddress() + "/" + bits);
        }
    }

    public static AddressPrefix parse(String text) {
        Matcher form = FORM.matcher(text);
        if (form.matches()) {
            try {
                return new AddressPrefix(InetAddress.getByName(form.group(1)), Integer.parseInt(form.group(2)));
            } catch (UnknownHostException e) {
                throw new IllegalArgumentException("range: want ADDRESS/BITS, have \"" + text + "\"", e);
            }
        }
        throw new IllegalArgumentException("range: want ADDRESS/BITS, have \"" + text + "\"");
    }

    public boolean contains(InetAddress address) {
        int all = first.getAddress().length;
        return address.getAddress().length == all
                && number(address)
                                .xor(number(first))
                                .shiftRight(all * Byte.SIZE - bits)
                                .signum()
                        == 0;
    }

    @Override
    public String toString() {
        return first.getHostAddress() + "/" + bits;
    }

    private static BigInteger number(InetAddress address) {
        return new BigInteger(1, address.getAddress());
    }
}
