package org.cloister.host.plan;

import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.MacAddress;
import org.cloister.ovs.Endpoint;
import org.cloister.protocol.ticket.ProjectAddress;

/**
 * A VM as a station of its project's VLAN. Its MAC follows from its address, so that every host knows those of a job's VMs
 * from the allocation alone: {@code 52:54}, as QEMU's own, and the address's four bytes.
 */
final class VlanEndpoint {
    private VlanEndpoint() {}

    static Endpoint at(ProjectAddress address) {
        String mac = org.cloister.protocol.handover.VmMacAddress.of(address).toString();
        return Endpoint.of(new MacAddress(mac), new Ipv4Address(address.toString()));
    }
}
