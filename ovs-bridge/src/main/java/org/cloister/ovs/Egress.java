package org.cloister.ovs;

import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;

/**
 * A project's static egress: a gateway port on a named host, and the destinations behind it.
 *
 * @param gateway in the project's VLAN; the worker resolves it with ARP and sends it the packets for a destination
 */
public record Egress(Endpoint gateway, Set<EgressDestination> destinations) {
    public Egress {
        destinations = Collections.unmodifiableSet(new TreeSet<>(destinations));
        if (destinations.isEmpty()) {
            throw new IllegalArgumentException(
                    "egress through " + gateway + ": want a destination, have none; leave the egress out");
        }
    }
}
