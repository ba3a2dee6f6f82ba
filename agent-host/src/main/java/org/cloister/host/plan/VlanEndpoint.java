package org.cloister.host.plan;

import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.MacAddress;
import org.cloister.ovs.Endpoint;
import org.cloister.protocol.ticket.ProjectAddress;

/**
 * Derives a VM's endpoint on its project's VLAN. Its MAC is {@code 52:54}, as QEMU's own, followed by the four bytes of
 * its address, so that every host knows the MACs of a job's VMs from the allocation alone.
 */
final class VlanEndpoint {
    private VlanEndpoint() {}

    static Endpoint at(ProjectAddress address) {
        String mac = org.cloister.protocol.handover.VmMacAddress.of(address).toString();
        return Endpoint.of(new MacAddress(mac), new Ipv4Address(address.toString()));
    }
}
