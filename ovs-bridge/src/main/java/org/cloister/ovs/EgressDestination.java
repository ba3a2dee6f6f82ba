package org.cloister.ovs;

import org.cloister.base.address.Ipv4Address;
import org.cloister.ovs.openflow.FlowMatch;

/** A service outside that a project may use, such as a licence server or a clock. */
public record EgressDestination(Ipv4Address address, Protocol protocol, int port)
        implements Comparable<EgressDestination> {
    /** Protocols whose ports the bridge can match. */
    public enum Protocol {
        TCP(FlowMatch.TCP),
        UDP(FlowMatch.UDP);

        final int number;

        Protocol(int number) {
            this.number = number;
        }
    }

    public EgressDestination {
        new NetworkService(protocol, port);
    }

    public static EgressDestination of(Ipv4Address address, NetworkService service) {
        return new EgressDestination(address, service.protocol(), service.port());
    }

    /** Returns {@code ADDRESS:tcp:PORT}, which {@link #parse} reads. */
    @Override
    public String toString() {
        return address + ":" + new NetworkService(protocol, port);
    }

    public static EgressDestination parse(String text) {
        int end = text.indexOf(':');
        if (end < 0) {
            throw new IllegalArgumentException(
                    "destination: want ADDRESS:tcp:PORT or ADDRESS:udp:PORT, have \"" + text + "\"");
        }
        return of(new Ipv4Address(text.substring(0, end)), NetworkService.parse(text.substring(end + 1)));
    }

    @Override
    public int compareTo(EgressDestination other) {
        return toString().compareTo(other.toString());
    }
}
