package org.cloister.ovs.names;

import org.cloister.ovs.Service;

/** A service outside that a project may use, at whatever addresses its name has. */
public record NamedDestination(HostName name, Service service) implements Comparable<NamedDestination> {
    /** @param text {@code NAME:tcp:PORT} or {@code NAME:udp:PORT} */
    public static NamedDestination parse(String text) {
        int end = text.indexOf(':');
        if (end < 0) {
            throw new IllegalArgumentException(
                    "destination: want NAME:tcp:PORT or NAME:udp:PORT, have \"" + text + "\"");
        }
        return new NamedDestination(new HostName(text.substring(0, end)), Service.parse(text.substring(end + 1)));
    }

    @Override
    public String toString() {
        return name + ":" + service;
    }

    @Override
    public int compareTo(NamedDestination other) {
        int order = name.compareTo(other.name);
        return order == 0 ? service.compareTo(other.service) : order;
    }
}
