package org.cloister.ovs;

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

    public Destination {
        new Service(protocol, port);
    }

    public static Destination of(Ipv4 address, Service service) {
        return new Destination(address, service.protocol(), service.port());
    }

    /** {@code ADDRESS:tcp:PORT}, which {@link #parse} reads. */
    @Override
    public String toString() {
        return address + ":" + new Service(protocol, port);
    }

    public static Destination parse(String text) {
        int end = text.indexOf(':');
        if (end < 0) {
            throw new IllegalArgumentException(
                    "destination: want ADDRESS:tcp:PORT or ADDRESS:udp:PORT, have \"" + text + "\"");
        }
        return of(new Ipv4(text.substring(0, end)), Service.parse(text.substring(end + 1)));
    }

    @Override
    public int compareTo(Destination other) {
        return toString().compareTo(other.toString());
    }
}
