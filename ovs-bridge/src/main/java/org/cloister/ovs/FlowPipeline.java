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
import org.cloister.ovs.Reachability.BoundPort;
import org.cloister.ovs.Reachability.Target;
import org.cloister.ovs.openflow.FlowEntry;
import org.cloister.ovs.openflow.FlowInstructions;
import org.cloister.ovs.openflow.FlowMatch;
import org.cloister.ovs.openflow.FlowMeter;
import org.jspecify.annotations.Nullable;

/**
 * Computes the flows and meters that permit exactly what plans permit. A pure function: the same plans and port numbers
 * always give the same flows. A frame passes three tables; a table drops a frame that matches none of its flows:
 *
 * <pre>
 * 0 port ──── a planned port, untagged ──▶ 1 machine ── its own addresses ──┐
 *        └─── the uplink, a VLAN in use ─▶ 2 uplink ─── a peer's addresses ─┴▶ 3 target: class, MAC and address ─▶ out
 * </pre>
 *
 * No flow learns, floods or uses NORMAL. Between tables the metadata carries the sender's class of
 * {@link Reachability}.
 */
final class FlowPipeline {
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

    private final Map<FlowEntry.Key, FlowEntry> flows = new LinkedHashMap<>();
    private final List<FlowMeter> meters = new ArrayList<>();
    private final Map<Long, String> classes = new HashMap<>();
    private final Reachability reach;
    private final @Nullable Integer uplink;

    private FlowPipeline(Collection<BoundPort> bound, @Nullable Integer uplink) {
        this.reach = new Reachability(bound, uplink != null);
        this.uplink = uplink;
    }

    /** Flows and meters that a switch should have. */
    record Rules(Set<FlowEntry> flows, Set<FlowMeter> meters) {
        Rules {
            flows = Set.copyOf(flows);
            meters = Set.copyOf(meters);
        }
    }

    static Rules of(Collection<BoundPort> bound, @Nullable Integer uplink) {
        FlowPipeline pipeline = new FlowPipeline(bound, uplink);
        pipeline.fixed();
        bound.forEach(pipeline::machine);
        if (uplink != null) {
            pipeline.others(uplink);
        }
        return new Rules(Set.copyOf(pipeline.flows.values()), Set.copyOf(pipeline.meters));
    }

    /** Adds the drops that do not depend on any plan; each is counted by its cookie. */
    private void fixed() {
        drop(PORT, 300, FlowMatch.ANY.inPort(LOCAL), DropReason.LOCAL_PORT);
        drop(PORT, 0, FlowMatch.ANY, DropReason.UNKNOWN_PORT);
        drop(MACHINE, 0, FlowMatch.ANY, DropReason.SPOOFED);
        drop(MACHINE, 10, FlowMatch.ANY.ethType(FlowMatch.IPV6), DropReason.IPV6_CLOSED);
        drop(UPLINK, 0, FlowMatch.ANY, DropReason.STRANGER);
        for (int table : new int[] {MACHINE, UPLINK}) {
            FlowMatch ipv6 = FlowMatch.ANY.ethType(FlowMatch.IPV6);
            drop(
                    table,
                    300,
                    FlowMatch.ANY.ethType(FlowMatch.IPV4).portSrc(FlowMatch.UDP, DHCP_SERVER),
                    DropReason.DHCP_SERVER);
            drop(table, 300, ipv6.portSrc(FlowMatch.UDP, DHCPV6_SERVER), DropReason.DHCP_SERVER);
            for (int type : DISCOVERY) {
                drop(table, 240, ipv6.icmpv6(type), DropReason.NEIGHBOUR_DISCOVERY);
            }
        }
        drop(TARGET, 0, FlowMatch.ANY, DropReason.ISOLATION);
    }

    private void machine(BoundPort sender) {
        PortPlan plan = sender.plan();
        FlowMatch port = FlowMatch.ANY.inPort(sender.port());
        PortRate rate = plan.rate();
        FlowInstructions.Sequence first = FlowInstructions.first();
        if (rate != null) {
            meters.add(new FlowMeter(sender.port(), rate.kilobitsPerSecond(), rate.burstKilobits()));
            first.meter(sender.port());
        }
        pass(PORT, 200, port.untagged(), first.gotoTable(MACHINE));
        drop(PORT, 100, port, DropReason.FORGED_TAG);
        Set<Target> targets = reach.from(sender);
        long known = target("port", plan.vlan(), targets);
        FlowMatch source = port.ethSrc(plan.self().mac().bytes());
        pass(MACHINE, 200, arpFrom(source, plan.self()), to(known));
        Egress egress = plan.egress();
        if (plan.role() == PortRole.GATEWAY && egress != null) {
            for (EgressDestination destination : egress.destinations()) {
                pass(MACHINE, 210, answerOf(source, destination), to(known));
            }
        } else {
            FlowMatch own =
                    source.ethType(FlowMatch.IPV4).ipv4Src(plan.self().ipv4().bytes());
            pass(MACHINE, 200, own, to(known));
            ipv6From(MACHINE, source, plan.self(), () -> to(known));
        }
    }

    private void others(int port) {
        FlowMatch from = FlowMatch.ANY.inPort(port);
        drop(PORT, 100, from, DropReason.UNKNOWN_VLAN);
        reach.remoteStations().forEach((vlan, unknownSenders) -> {
            FlowMatch tagged = from.vlan(vlan);
            pass(PORT, 200, tagged, FlowInstructions.first().gotoTable(UPLINK));
            unknownSenders.forEach(sender -> stranger(vlan, sender));
        });
    }

    private void stranger(int vlan, Endpoint sender) {
        FlowMatch source = FlowMatch.ANY.vlan(vlan).ethSrc(sender.mac().bytes());
        Set<Target> asPeer = reach.ofPeer(vlan, sender);
        Set<Target> all = new TreeSet<>(asPeer);
        for (EgressDestination destination : reach.destinations(vlan, sender)) {
            Set<Target> asGateway = reach.ofGateway(vlan, sender, destination);
            all.addAll(asGateway);
            long known = target("uplink", vlan, asGateway);
            pass(UPLINK, 210, answerOf(source, destination), popTo(known));
        }
        long arp = target("uplink", vlan, all);
        pass(UPLINK, 200, arpFrom(source, sender), popTo(arp));
        if (!asPeer.isEmpty()) {
            long known = target("uplink", vlan, asPeer);
            FlowMatch own = source.ethType(FlowMatch.IPV4).ipv4Src(sender.ipv4().bytes());
            pass(UPLINK, 200, own, popTo(known));
            ipv6From(UPLINK, source, sender, () -> popTo(known));
        }
    }

    /** Passes ordinary packets from the own address; of neighbour discovery only messages about the own addresses. */
    private void ipv6From(int table, FlowMatch source, Endpoint self, Supplier<FlowInstructions> onward) {
        Ipv6Address ipv6 = self.ipv6();
        if (ipv6 == null) {
            return;
        }
        byte[] mac = self.mac().bytes();
        FlowMatch own = source.ethType(FlowMatch.IPV6).ipv6Src(ipv6.bytes());
        pass(table, 200, own, onward.get());
        pass(table, 250, own.icmpv6(SOLICITATION).ndSource(mac), onward.get());
        pass(table, 250, own.icmpv6(ADVERTISEMENT).ndTarget(ipv6.bytes()).ndTargetMac(mac), onward.get());
    }

    /** Returns the class of these targets, and adds the flows that lead to them. */
    private long target(String from, int vlan, Set<Target> targets) {
        long known = Reachability.classOf(from, vlan, targets);
        String text = from + " " + vlan + " " + targets;
        String other = classes.putIfAbsent(known, text);
        if (other == null) {
            targets.forEach(target -> target(vlan, FlowMatch.ANY.metadata(known).untagged(), target));
        } else if (!other.equals(text)) {
            throw new IllegalStateException("class " + known + " of " + text + " is also that of " + other);
        }
        return known;
    }

    private void target(int vlan, FlowMatch sender, Target target) {
        Endpoint endpoint = target.endpoint();
        byte[] mac = endpoint.mac().bytes();
        FlowInstructions out = output(vlan, target);
        FlowMatch arp = sender.ethType(FlowMatch.ARP).arpTarget(endpoint.ipv4().bytes());
        pass(TARGET, 200, arp.ethDst(BROADCAST).arpOp(ARP_REQUEST), out);
        pass(TARGET, 200, arp.ethDst(mac), out);
        Set<EgressDestination> destinations = target.destinations();
        FlowMatch unicast = sender.ethDst(mac);
        if (destinations != null) {
            for (EgressDestination destination : destinations) {
                FlowMatch service = unicast.ethType(FlowMatch.IPV4)
                        .ipv4Dst(destination.address().bytes());
                pass(TARGET, 200, service.portDst(destination.protocol().number, destination.port()), out);
            }
            return;
        }
        pass(
                TARGET,
                200,
                unicast.ethType(FlowMatch.IPV4).ipv4Dst(endpoint.ipv4().bytes()),
                out);
        Ipv6Address ipv6 = endpoint.ipv6();
        if (ipv6 != null) {
            pass(TARGET, 200, unicast.ethType(FlowMatch.IPV6).ipv6Dst(ipv6.bytes()), out);
            FlowMatch solicitation = sender.ethDst(ipv6.solicitedNodeMac()).ethType(FlowMatch.IPV6);
            pass(
                    TARGET,
                    200,
                    solicitation
                            .ipv6Dst(ipv6.solicitedNode())
                            .icmpv6(SOLICITATION)
                            .ndTarget(ipv6.bytes()),
                    out);
        }
    }

    private FlowInstructions output(int vlan, Target target) {
        Integer port = target.port();
        if (port != null) {
            return FlowInstructions.first().output(port);
        }
        if (uplink == null) {
            throw new IllegalStateException(target + " is behind an uplink that is not there");
        }
        return FlowInstructions.first().outputTagged(uplink, vlan);
    }

    private static FlowMatch arpFrom(FlowMatch source, Endpoint self) {
        return source.ethType(FlowMatch.ARP)
                .arpSender(self.mac().bytes(), self.ipv4().bytes());
    }

    private static FlowMatch answerOf(FlowMatch source, EgressDestination destination) {
        FlowMatch service =
                source.ethType(FlowMatch.IPV4).ipv4Src(destination.address().bytes());
        FlowMatch answer = service.portSrc(destination.protocol().number, destination.port());
        return destination.protocol() == EgressDestination.Protocol.TCP ? answer.tcpAcknowledges() : answer;
    }

    private static FlowInstructions to(long known) {
        return FlowInstructions.first().metadata(known).gotoTable(TARGET);
    }

    private static FlowInstructions popTo(long known) {
        return FlowInstructions.first().popVlan().metadata(known).gotoTable(TARGET);
    }

    private void pass(int table, int priority, FlowMatch match, FlowInstructions instructions) {
        put(FlowEntry.of(table, priority, match, DropReason.PASSES.cookie(), instructions));
    }

    private void drop(int table, int priority, FlowMatch match, DropReason reason) {
        put(FlowEntry.of(table, priority, match, reason.cookie(), FlowInstructions.DROP));
    }

    private void put(FlowEntry flow) {
        FlowEntry other = flows.put(flow.key(), flow);
        if (other != null && !other.equals(flow)) {
            throw new IllegalStateException(flow + " contradicts " + other);
        }
    }
}
