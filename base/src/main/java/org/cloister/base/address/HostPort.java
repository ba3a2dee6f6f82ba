package org.cloister.base.address;

import java.net.InetSocketAddress;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Address of a TCP service as {@code HOST:PORT}: a name that is not resolved here, or an IP address, an IPv6 one in
 * brackets.
 *
 * @param port 1 to 65535
 */
public record HostPort(String host, int port) {
    /** Form of the text; the number's range is not in it. */
    public static final Pattern FORM =
            Pattern.compile("(\\[[0-9a-fA-F:.]{2,45}]|[0-9A-Za-z.-]{1,253}):([1-9][0-9]{0,4})");

    private static final int MAX_PORT = 65535;

    /** @throws IllegalArgumentException if it has another form; the text has printable characters alone */
    public static HostPort parse(String text) {
        Matcher form = FORM.matcher(text);
        int port = form.matches() ? Integer.parseInt(form.group(2)) : 0;
        if (port < 1 || port > MAX_PORT) {
            throw new IllegalArgumentException("want HOST:PORT, have "
                    + text.replaceAll("[^ -~]", "?").substring(0, Math.min(text.length(), 300)));
        }
        return new HostPort(form.group(1), port);
    }

    /** Returns the same as a socket's address, whose name each connection resolves. */
    public InetSocketAddress unresolved() {
        return InetSocketAddress.createUnresolved(host, port);
    }

    /** Returns the address of a socket as text. */
    public static String text(InetSocketAddress address) {
        return new HostPort(address.getHostString(), address.getPort()).toString();
    }

    @Override
    public String toString() {
        return host + ":" + port;
    }
}
