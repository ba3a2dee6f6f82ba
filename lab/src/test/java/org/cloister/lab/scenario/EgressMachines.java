package org.cloister.lab.scenario;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.MacAddress;
import org.cloister.ovs.Egress;
import org.cloister.ovs.EgressDestination;
import org.cloister.ovs.Endpoint;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.PortRole;

/**
 * The machines for tests of egress: two projects with a gateway each on host 2, and machines on both hosts of which
 * some may use all services of their gateway, one only one of them, and some none.
 *
 * @param number the last byte of its addresses
 * @param way the name of the gateway that its plan names, a gateway's own, or nothing
 */
record EgressMachines(String name, int number, int host, int vlan, String way, Set<Service> services) {
    static final int VLAN = 311;
    static final int OTHER_VLAN = 312;

    static final EgressMachines G = new EgressMachines("g", 1, 2, VLAN, "g", Set.of(Service.LICENCE, Service.TIME));
    static final EgressMachines H = new EgressMachines("h", 2, 2, OTHER_VLAN, "h", Set.of(Service.OTHERS));
    /** Its plan names the gateway, but the gateway's does not name it. */
    private static final EgressMachines UNKNOWN = new EgressMachines("x1", 3, 1, VLAN, "g", G.services);

    static final List<EgressMachines> ALL = List.of(
            G,
            H,
            UNKNOWN,
            new EgressMachines("w1", 4, 1, VLAN, "g", G.services),
            new EgressMachines("w2", 5, 2, VLAN, "g", G.services),
            new EgressMachines("t1", 6, 1, VLAN, "g", Set.of(Service.TIME)),
            new EgressMachines("n1", 7, 1, VLAN, "", Set.of()),
            new EgressMachines("n2", 8, 2, VLAN, "", Set.of()),
            new EgressMachines("q1", 9, 1, OTHER_VLAN, "h", H.services));

    /** Service behind a gateway. */
    enum Service {
        LICENCE("192.0.2.7:tcp:27000"),
        TIME("192.0.2.8:udp:123"),
        OTHERS("192.0.2.20:tcp:443");

        private final String destination;

        Service(String destination) {
            this.destination = destination;
        }

        EgressDestination destination() {
            return EgressDestination.parse(destination);
        }

        boolean isTcp() {
            return destination().protocol() == EgressDestination.Protocol.TCP;
        }
    }

    static List<EgressMachines> machines() {
        return ALL.stream().filter(each -> !each.isGateway()).toList();
    }

    static List<PortPlan> plans(int host) {
        return ALL.stream()
                .filter(each -> each.host == host)
                .map(EgressMachines::plan)
                .toList();
    }

    boolean isGateway() {
        return way.equals(name);
    }

    Endpoint self() {
        return Endpoint.of(
                new MacAddress(String.format("02:00:00:00:78:%02x", number)), new Ipv4Address("10.78.0." + number));
    }

    /** By its own plan. */
    boolean usesGateway(EgressMachines gateway) {
        return way.equals(gateway.name) && !isGateway();
    }

    /** By the gateway's plan. */
    boolean admits(EgressMachines machine) {
        return machine.usesGateway(this) && !machine.equals(UNKNOWN);
    }

    /** By its own plan. */
    boolean has(Service service) {
        return services.contains(service);
    }

    private EgressMachines gateway() {
        return way.equals(G.name) ? G : H;
    }

    private PortPlan plan() {
        Set<Endpoint> peers = new TreeSet<>();
        for (EgressMachines other : ALL) {
            if (admits(other)) {
                peers.add(other.self());
            }
        }
        Set<EgressDestination> destinations = new TreeSet<>();
        services.forEach(service -> destinations.add(service.destination()));
        return new PortPlan(
                NamespaceMachines.device(name),
                vlan,
                self(),
                "egress",
                isGateway() ? PortRole.GATEWAY : PortRole.WORKER,
                peers,
                way.isEmpty() ? null : new Egress(gateway().self(), destinations),
                null,
                "scenario/egress");
    }

    @Override
    public String toString() {
        return name;
    }
}
