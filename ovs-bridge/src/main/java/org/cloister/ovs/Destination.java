package org.cloister.ovs;

import java.util.Locale;
import org.cloister.ovs.openflow.Match;

/** A service outside that a project may use: a licence server, a clock. */
public record Destination(Ipv4 address, Protocol protocol, int port) implements Comparable<Destination> {
    /** What the bridge can tell ports of. */
    public enum Protocol {
        TCP(Match.TCP),
        UDP(Match.UDP);

        final int number;

        Protocol(int number) {
            this.number = number;
        }
    }

    private static final int MAX_PORT = 65535;

    public Destination {
        if (port < 1 || port > MAX_PORT) {
            throw new IllegalArgumentException("port: want 1 to " + MAX_PORT + ", have " + port);
        }
    }

    /** {@code ADDRESS:tcp:PORT}, which {@link #parse} reads. */
    @Override
    public String toString() {
        return address + ":" + protocol.name().toLowerCase(Locale.ROOT) + ":" + port;
    }

    public static Destination parse(String text) {
        String[] parts = text.split(":", -1);
        if (parts.length != 3 || !parts[2].matches("[1-9]\\d{0,4}")) {
            throw new IllegalArgumentException(
                    "destination: want ADDRESS:tcp:PORT or ADDRESS:udp:PORT, have \"" + text + "\"");
        }
        Protocol protocol = switch (parts[1]) {
            case "tcp" -> Protocol.TCP;
            case "udp" -> Protocol.UDP;
            default -> throw new IllegalArgumentException("protocol: want tcp or udp, have \"" + parts[1] + "\"");
        };
        return new Destination(new Ipv4(parts[0]), protocol, Integer.parseInt(parts[2]));
    }

    @Override
    public int compareTo(Destination other) {
        return toString().compareTo(other.toString());
    }
}
