package org.cloister.ovs;

import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;

/**
 * A project's static way out: a gateway port on a named host, and what lies behind it.
 *
 * @param gateway in the project's VLAN; the worker speaks ARP with it and sends it what is for a destination
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
