package org.cloister.ovs.dns;

import org.cloister.ovs.NetworkService;

/** A service outside that a project may use, at the present addresses of its name. */
public record NamedEgressDestination(HostName name, NetworkService service)
        implements Comparable<NamedEgressDestination> {
    /** @param text {@code NAME:tcp:PORT} or {@code NAME:udp:PORT} */
    public static NamedEgressDestination parse(String text) {
        int end = text.indexOf(':');
        if (end < 0) {
            throw new IllegalArgumentException(
                    "destination: want NAME:tcp:PORT or NAME:udp:PORT, have \"" + text + "\"");
        }
        return new NamedEgressDestination(
                new HostName(text.substring(0, end)), NetworkService.parse(text.substring(end + 1)));
    }

    @Override
    public String toString() {
        return name + ":" + service;
    }

    @Override
    public int compareTo(NamedEgressDestination other) {
        int order = name.compareTo(other.name);
        return order == 0 ? service.compareTo(other.service) : order;
    }
}
