package org.cloister.lab.scenario;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.cloister.ovs.Endpoint;
import org.cloister.ovs.Ipv4;
import org.cloister.ovs.Ipv6;
import org.cloister.ovs.Mac;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.Role;
import org.jspecify.annotations.Nullable;

/**
 * Who is there: two projects, one of them with two jobs and a controlling VM, on two hosts. Job a has IPv6, job b has not.
 *
 * @param host 1 or 2
 * @param job {@code a}, {@code b}, {@code c} for the controlling VM, {@code q} for the other project
 */
record Cast(String name, int host, int vlan, String job, Endpoint endpoint) {
    static final int VLAN = 301;
    static final int OTHER_VLAN = 302;

    private static final Endpoint GONE = endpoint(99, false);

    static final List<Cast> ALL = List.of(
            new Cast("a1", 1, VLAN, "a", endpoint(1, true)),
            new Cast("a2", 1, VLAN, "a", endpoint(2, true)),
            new Cast("a3", 2, VLAN, "a", endpoint(3, true)),
            new Cast("b1", 1, VLAN, "b", endpoint(4, false)),
            new Cast("b2", 2, VLAN, "b", endpoint(5, false)),
            new Cast("c1", 1, VLAN, "c", endpoint(6, true)),
            new Cast("q1", 1, OTHER_VLAN, "q", endpoint(7, true)),
            new Cast("q2", 2, OTHER_VLAN, "q", endpoint(8, true)));

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

    boolean mayReach(Cast other) {
        boolean together = job.equals(other.job) || job.equals("c") || other.job.equals("c");
        return !name.equals(other.name) && vlan == other.vlan && together;
    }

    static List<PortPlan> plans(int host) {
        return ALL.stream().filter(each -> each.host == host).map(Cast::plan).toList();
    }

    PortPlan plan() {
        Set<Endpoint> peers = new TreeSet<>();
        for (Cast other : ALL) {
            if (mayReach(other)) {
                peers.add(other.endpoint);
            }
        }
        Role role = job.equals("c") ? Role.CONTROLLER : Role.WORKER;
        return new PortPlan(device(), vlan, endpoint, job, role, peers, null, null, "scenario/" + name);
    }

    byte[] ipv6() {
        Ipv6 ipv6 = endpoint.ipv6();
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
                new Mac(String.format("02:00:00:00:77:%02x", number)),
                new Ipv4("10.77.0." + number),
                ipv6 ? Ipv6.parse(String.format("fd00:77::%x", number)) : null);
    }
}
