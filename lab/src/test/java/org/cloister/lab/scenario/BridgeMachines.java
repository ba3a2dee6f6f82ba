package org.cloister.lab.scenario;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.MacAddress;
import org.cloister.ovs.Endpoint;
import org.cloister.ovs.Ipv6Address;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.PortRole;
import org.jspecify.annotations.Nullable;

/**
 * The machines: two projects, one of them with two jobs and a controlling VM, on two hosts. Job a has IPv6, job b has
 * not.
 *
 * @param host 1 or 2
 * @param job {@code a}, {@code b}, {@code c} for the controlling VM, {@code q} for the other project
 */
record BridgeMachines(String name, int host, int vlan, String job, Endpoint endpoint) {
    static final int VLAN = 301;
    static final int OTHER_VLAN = 302;

    private static final Endpoint GONE = endpoint(99, false);

    static final List<BridgeMachines> ALL = List.of(
            new BridgeMachines("a1", 1, VLAN, "a", endpoint(1, true)),
            new BridgeMachines("a2", 1, VLAN, "a", endpoint(2, true)),
            new BridgeMachines("a3", 2, VLAN, "a", endpoint(3, true)),
            new BridgeMachines("b1", 1, VLAN, "b", endpoint(4, false)),
            new BridgeMachines("b2", 2, VLAN, "b", endpoint(5, false)),
            new BridgeMachines("c1", 1, VLAN, "c", endpoint(6, true)),
            new BridgeMachines("q1", 1, OTHER_VLAN, "q", endpoint(7, true)),
            new BridgeMachines("q2", 2, OTHER_VLAN, "q", endpoint(8, true)));

    /** Nobody's addresses. */
    static Endpoint nobody() {
        return GONE;
    }

    String device() {
        return "cl-" + name;
    }

    /** Job b and the other project hang on taps, as VMs do; the others on one end of a veth. */
    boolean isOnTap() {
        return job.equals("b") || job.equals("q");
    }

    boolean mayReach(BridgeMachines other) {
        boolean sameProject = job.equals(other.job) || job.equals("c") || other.job.equals("c");
        return !name.equals(other.name) && vlan == other.vlan && sameProject;
    }

    static List<PortPlan> plans(int host) {
        return ALL.stream()
                .filter(each -> each.host == host)
                .map(BridgeMachines::plan)
                .toList();
    }

    PortPlan plan() {
        Set<Endpoint> peers = new TreeSet<>();
        for (BridgeMachines other : ALL) {
            if (mayReach(other)) {
                peers.add(other.endpoint);
            }
        }
        PortRole role = job.equals("c") ? PortRole.CONTROLLER : PortRole.WORKER;
        return new PortPlan(device(), vlan, endpoint, job, role, peers, null, null, "scenario/" + name);
    }

    byte[] ipv6() {
        Ipv6Address ipv6 = endpoint.ipv6();
        return bytes(ipv6 == null ? "fd00:77::ff" : ipv6.text());
    }

    static byte[] bytes(@Nullable String ipv6) {
        try {
            return InetAddress.getByName(ipv6).getAddress();
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static Endpoint endpoint(int number, boolean ipv6) {
        return new Endpoint(
                new MacAddress(String.format("02:00:00:00:77:%02x", number)),
                new Ipv4Address("10.77.0." + number),
                ipv6 ? Ipv6Address.parse(String.format("fd00:77::%x", number)) : null);
    }
}
