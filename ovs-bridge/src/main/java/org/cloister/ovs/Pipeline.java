package org.cloister.ovs;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.cloister.ovs.Reach.Bound;
import org.cloister.ovs.Reach.Target;
import org.cloister.ovs.openflow.Flow;
import org.cloister.ovs.openflow.Instructions;
import org.cloister.ovs.openflow.Match;
import org.cloister.ovs.openflow.Meter;
import org.jspecify.annotations.Nullable;

/**
 * The flows and meters that let through exactly what plans permit. Pure: the same plans and port numbers always give the
 * same flows. A frame goes through three tables and is dropped wherever nothing fits:
 *
 * <pre>
 * 0 port ──── a planned port, untagged ──▶ 1 machine ── its own addresses ──┐
 *        └─── the uplink, a VLAN in use ─▶ 2 uplink ─── a peer's addresses ─┴▶ 3 target: class, MAC and address ─▶ out
 * </pre>
 *
 * No flow learns, floods or uses NORMAL. Between tables the metadata carries the sender's class of {@link Reach}.
 */
final class Pipeline {
    static final int PORT = 0;
    static final int MACHINE = 1;
    static final int UPLINK = 2;
    static final int TARGET = 3;

    private static final int LOCAL = 0xfffffffe;
    private static final byte[] BROADCAST = {-1, -1, -1, -1, -1, -1};
    private static final int DHCP_SERVER = 67;
    private static final int DHCPV6_SERVER = 547;
    private static final int ARP_REQUEST = 1;
    private static final int[] DISCOVERY = {133, 134, 135, 136, 137};
    private static final int SOLICITATION = 135;
    private static final int ADVERTISEMENT = 136;

    private final Map<Flow.Key, Flow> flows = new LinkedHashMap<>();
    private final List<Meter> meters = new ArrayList<>();
    private final Map<Long, String> classes = new HashMap<>();
    private final Reach reach;
    private final @Nullable Integer uplink;

    private Pipeline(Collection<Bound> bound, @Nullable Integer uplink) {
        this.reach = new Reach(bound, uplink != null);
        this.uplink = uplink;
    }

    /** What a switch should have. */
    record Rules(Set<Flow> flows, Set<Meter> meters) {
        Rules {
            flows = Set.copyOf(flows);
            meters = Set.copyOf(meters);
        }
    }

    static Rules of(Collection<Bound> bound, @Nullable Integer uplink) {
        Pipeline pipeline = new Pipeline(bound, uplink);
        pipeline.fixed();
        bound.forEach(pipeline::machine);
        if (uplink != null) {
            pipeline.others(uplink);
        }
        return new Rules(Set.copyOf(pipeline.flows.values()), Set.copyOf(pipeline.meters));
    }

    /** What is dropped whoever is there; counted by its cookie. */
    private void fixed() {
        drop(PORT, 300, Match.ANY.inPort(LOCAL), Reason.LOCAL_PORT);
        drop(PORT, 0, Match.ANY, Reason.UNKNOWN_PORT);
        drop(MACHINE, 0, Match.ANY, Reason.SPOOFED);
        drop(MACHINE, 10, Match.ANY.ethType(Match.IPV6), Reason.IPV6_CLOSED);
        drop(UPLINK, 0, Match.ANY, Reason.STRANGER);
        for (int table : new int[] {MACHINE, UPLINK}) {
            Match ipv6 = Match.ANY.ethType(Match.IPV6);
            drop(table, 300, Match.ANY.ethType(Match.IPV4).portSrc(Match.UDP, DHCP_SERVER), Reason.DHCP_SERVER);
            drop(table, 300, ipv6.portSrc(Match.UDP, DHCPV6_SERVER), Reason.DHCP_SERVER);
            for (int type : DISCOVERY) {
                drop(table, 240, ipv6.icmpv6(type), Reason.NEIGHBOUR_DISCOVERY);
            }
        }
        drop(TARGET, 0, Match.ANY, Reason.ISOLATION);
    }

    private void machine(Bound sender) {
        PortPlan plan = sender.plan();
        Match port = Match.ANY.inPort(sender.port());
        Rate rate = plan.rate();
        Instructions.Sequence first = Instructions.first();
        if (rate != null) {
            meters.add(new Meter(sender.port(), rate.kilobitsPerSecond(), rate.burstKilobits()));
            first.meter(sender.port());
        }
        pass(PORT, 200, port.untagged(), first.go(MACHINE));
        drop(PORT, 100, port, Reason.FORGED_TAG);
        Set<Target> targets = reach.from(sender);
        long known = target("port", plan.vlan(), targets);
        Match station = port.ethSrc(plan.self().mac().bytes());
        pass(MACHINE, 200, arpFrom(station, plan.self()), to(known));
        Egress egress = plan.egress();
        if (plan.role() == Role.GATEWAY && egress != null) {
            for (Destination destination : egress.destinations()) {
                pass(MACHINE, 210, answerOf(station, destination), to(known));
            }
        } else {
            Match own = station.ethType(Match.IPV4).ipv4Src(plan.self().ipv4().bytes());
            pass(MACHINE, 200, own, to(known));
            ipv6From(MACHINE, station, plan.self(), () -> to(known));
        }
    }

    private void others(int port) {
        Match from = Match.ANY.inPort(port);
        drop(PORT, 100, from, Reason.UNKNOWN_VLAN);
        reach.strangers().forEach((vlan, strangers) -> {
            Match tagged = from.vlan(vlan);
            pass(PORT, 200, tagged, Instructions.first().go(UPLINK));
            strangers.forEach(stranger -> stranger(vlan, stranger));
        });
    }

    private void stranger(int vlan, Endpoint stranger) {
        Match station = Match.ANY.vlan(vlan).ethSrc(stranger.mac().bytes());
        Set<Target> asPeer = reach.ofPeer(vlan, stranger);
        Set<Target> all = new TreeSet<>(asPeer);
        for (Destination destination : reach.destinations(vlan, stranger)) {
            Set<Target> asGateway = reach.ofGateway(vlan, stranger, destination);
            all.addAll(asGateway);
            long known = target("uplink", vlan, asGateway);
            pass(UPLINK, 210, answerOf(station, destination), popTo(known));
        }
        long arp = target("uplink", vlan, all);
        pass(UPLINK, 200, arpFrom(station, stranger), popTo(arp));
        if (!asPeer.isEmpty()) {
            long known = target("uplink", vlan, asPeer);
            Match own = station.ethType(Match.IPV4).ipv4Src(stranger.ipv4().bytes());
            pass(UPLINK, 200, own, popTo(known));
            ipv6From(UPLINK, station, stranger, () -> popTo(known));
        }
    }

    /** Ordinary packets from the own address; of neighbour discovery only what speaks of the own addresses. */
    private void ipv6From(int table, Match station, Endpoint self, Supplier<Instructions> onward) {
        Ipv6 ipv6 = self.ipv6();
        if (ipv6 == null) {
            return;
        }
        byte[] mac = self.mac().bytes();
        Match own = station.ethType(Match.IPV6).ipv6Src(ipv6.bytes());
        pass(table, 200, own, onward.get());
        pass(table, 250, own.icmpv6(SOLICITATION).ndSource(mac), onward.get());
        pass(table, 250, own.icmpv6(ADVERTISEMENT).ndTarget(ipv6.bytes()).ndTargetMac(mac), onward.get());
    }

    /** The class of these targets, with the flows that lead to them. */
    private long target(String from, int vlan, Set<Target> targets) {
        long known = Reach.classOf(from, vlan, targets);
        String text = from + " " + vlan + " " + targets;
        String other = classes.putIfAbsent(known, text);
        if (other == null) {
            targets.forEach(target -> target(vlan, Match.ANY.metadata(known).untagged(), target));
        } else if (!other.equals(text)) {
            throw new IllegalStateException("class " + known + " of " + text + " is also that of " + other);
        }
        return known;
    }

    private void target(int vlan, Match sender, Target target) {
        Endpoint station = target.station();
        byte[] mac = station.mac().bytes();
        Instructions out = output(vlan, target);
        Match arp = sender.ethType(Match.ARP).arpTarget(station.ipv4().bytes());
        pass(TARGET, 200, arp.ethDst(BROADCAST).arpOp(ARP_REQUEST), out);
        pass(TARGET, 200, arp.ethDst(mac), out);
        Set<Destination> destinations = target.destinations();
        Match unicast = sender.ethDst(mac);
        if (destinations != null) {
            for (Destination destination : destinations) {
                Match service = unicast.ethType(Match.IPV4)
                        .ipv4Dst(destination.address().bytes());
                pass(TARGET, 200, service.portDst(destination.protocol().number, destination.port()), out);
            }
            return;
        }
        pass(TARGET, 200, unicast.ethType(Match.IPV4).ipv4Dst(station.ipv4().bytes()), out);
        Ipv6 ipv6 = station.ipv6();
        if (ipv6 != null) {
            pass(TARGET, 200, unicast.ethType(Match.IPV6).ipv6Dst(ipv6.bytes()), out);
            Match asked = sender.ethDst(ipv6.solicitedNodeMac()).ethType(Match.IPV6);
            pass(
                    TARGET,
                    200,
                    asked.ipv6Dst(ipv6.solicitedNode()).icmpv6(SOLICITATION).ndTarget(ipv6.bytes()),
                    out);
        }
    }

    private Instructions output(int vlan, Target target) {
        Integer port = target.port();
        if (port != null) {
            return Instructions.first().output(port);
        }
        if (uplink == null) {
            throw new IllegalStateException(target + " is behind an uplink that is not there");
        }
        return Instructions.first().outputTagged(uplink, vlan);
    }

    private static Match arpFrom(Match station, Endpoint self) {
        return station.ethType(Match.ARP)
                .arpSender(self.mac().bytes(), self.ipv4().bytes());
    }

    private static Match answerOf(Match station, Destination destination) {
        Match service =
                station.ethType(Match.IPV4).ipv4Src(destination.address().bytes());
        Match answer = service.portSrc(destination.protocol().number, destination.port());
        return destination.protocol() == Destination.Protocol.TCP ? answer.tcpAcknowledges() : answer;
    }

    private static Instructions to(long known) {
        return Instructions.first().metadata(known).go(TARGET);
    }

    private static Instructions popTo(long known) {
        return Instructions.first().popVlan().metadata(known).go(TARGET);
    }

    private void pass(int table, int priority, Match match, Instructions instructions) {
        put(Flow.of(table, priority, match, Reason.PASSES.cookie(), instructions));
    }

    private void drop(int table, int priority, Match match, Reason reason) {
        put(Flow.of(table, priority, match, reason.cookie(), Instructions.DROP));
    }

    private void put(Flow flow) {
        Flow other = flows.put(flow.key(), flow);
        if (other != null && !other.equals(flow)) {
            throw new IllegalStateException(flow + " contradicts " + other);
        }
    }
}
