package org.cloister.host.plan;

import org.cloister.ovs.Endpoint;
import org.cloister.ovs.Ipv4;
import org.cloister.ovs.Mac;
import org.cloister.protocol.ticket.Address;

/**
 * A VM as a station of its project's VLAN. Its MAC follows from its address, so that every host knows those of a job's VMs
 * from the allocation alone: {@code 52:54}, as QEMU's own, and the address's four bytes.
 */
final class Station {
    private Station() {}

    static Endpoint at(Address address) {
        String mac = org.cloister.protocol.handover.Mac.of(address).toString();
        return Endpoint.of(new Mac(mac), new Ipv4(address.toString()));
    }
}
