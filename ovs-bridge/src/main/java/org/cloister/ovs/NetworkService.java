package org.cloister.ovs;

import java.util.Locale;

/** A protocol and port, as a service offers it at some address. */
public record NetworkService(EgressDestination.Protocol protocol, int port) implements Comparable<NetworkService> {
    private static final int MAX_PORT = 65535;

    public NetworkService {
        if (port < 1 || port > MAX_PORT) {
            throw new IllegalArgumentException("port: want 1 to " + MAX_PORT + ", have " + port);
        }
    }

    public static NetworkService parse(String text) {
        String[] parts = text.split(":", -1);
        if (parts.length != 2 || !parts[1].matches("[1-9]\\d{0,4}")) {
            throw new IllegalArgumentException("service: want tcp:PORT or udp:PORT, have \"" + text + "\"");
        }
        EgressDestination.Protocol protocol = switch (parts[0]) {
            case "tcp" -> EgressDestination.Protocol.TCP;
            case "udp" -> EgressDestination.Protocol.UDP;
            default -> throw new IllegalArgumentException("protocol: want tcp or udp, have \"" + parts[0] + "\"");
        };
        return new NetworkService(protocol, Integer.parseInt(parts[1]));
    }

    /** Returns {@code tcp:PORT}, which {@link #parse} reads. */
    @Override
    public String toString() {
        return protocol.name().toLowerCase(Locale.ROOT) + ":" + port;
    }

    @Override
    public int compareTo(NetworkService other) {
        return toString().compareTo(other.toString());
    }
}
