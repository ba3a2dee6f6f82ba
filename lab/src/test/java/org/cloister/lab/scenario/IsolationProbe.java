package org.cloister.lab.scenario;

import static org.cloister.lab.scenario.NumberedFrames.arp;
import static org.cloister.lab.scenario.NumberedFrames.broadcast;
import static org.cloister.lab.scenario.NumberedFrames.ethernet;
import static org.cloister.lab.scenario.NumberedFrames.icmpEcho;
import static org.cloister.lab.scenario.NumberedFrames.icmpv6;
import static org.cloister.lab.scenario.NumberedFrames.ip;
import static org.cloister.lab.scenario.NumberedFrames.ipv4;
import static org.cloister.lab.scenario.NumberedFrames.ipv6;
import static org.cloister.lab.scenario.NumberedFrames.mac;
import static org.cloister.lab.scenario.NumberedFrames.neighbour;
import static org.cloister.lab.scenario.NumberedFrames.tagged;
import static org.cloister.lab.scenario.NumberedFrames.tcp;
import static org.cloister.lab.scenario.NumberedFrames.udp;

import java.util.HexFormat;
import org.cloister.ovs.Endpoint;

/**
 * Attempt of a machine: a row of the matrix. Those of the first kind may arrive at reachable machines, others at none.
 */
enum IsolationProbe {
    ARP_REQUEST(true),
    ARP_REPLY(true),
    TCP(true),
    UDP(true),
    ICMP(true),
    IPV6(true),
    ND_SOLICITATION(true),
    ND_ADVERTISEMENT(true),
    ROUTER_ADVERTISEMENT(false),
    IPV4_BROADCAST(false),
    IPV4_MULTICAST(false),
    IPV6_MULTICAST(false),
    BRIDGE_PROTOCOL(false),
    FORGED_MAC(false),
    FORGED_IP(false),
    FORGED_IPV6(false),
    FORGED_ARP(false),
    FORGED_ADVERTISEMENT(false),
    FORGED_TAG(false),
    FORGED_OTHER_TAG(false),
    PRIORITY_TAG(false),
    DOUBLE_TAG(false),
    SERVICE_TAG(false),
    DHCP_OFFER(false),
    STRANGE_ETHERTYPE(false),
    WRONG_ADDRESS_FOR_MAC(false);

    private final boolean permitted;

    IsolationProbe(boolean permitted) {
        this.permitted = permitted;
    }

    boolean passes(BridgeMachines from, BridgeMachines to) {
        boolean closed =
                isIpv6() && (from.endpoint().ipv6() == null || to.endpoint().ipv6() == null);
        return permitted && !closed && from.mayReach(to);
    }

    private boolean isIpv6() {
        return this == IPV6 || this == ND_SOLICITATION || this == ND_ADVERTISEMENT;
    }

    byte[] frame(BridgeMachines from, BridgeMachines to) {
        byte[] source = mac(from.endpoint());
        byte[] target = mac(to.endpoint());
        byte[] ours = ip(from.endpoint().ipv4().text());
        byte[] theirs = ip(to.endpoint().ipv4().text());
        Endpoint nobody = BridgeMachines.nobody();
        byte[] datagram = ipv4(target, source, ours, theirs, 17, udp(4000, 4000));
        return switch (this) {
            case ARP_REQUEST -> arp(broadcast(), from.endpoint(), 1, ours, new byte[6], theirs);
            case ARP_REPLY -> arp(target, from.endpoint(), 2, ours, target, theirs);
            case TCP -> ipv4(target, source, ours, theirs, 6, tcp(4000, 22, 2));
            case UDP -> datagram;
            case ICMP -> ipv4(target, source, ours, theirs, 1, icmpEcho());
            case IPV4_BROADCAST -> ipv4(broadcast(), source, ours, ip("255.255.255.255"), 17, udp(4000, 4000));
            case IPV4_MULTICAST -> ipv4(hex("01005e000001"), source, ours, ip("224.0.0.1"), 17, udp(4000, 4000));
            case BRIDGE_PROTOCOL -> ethernet(hex("0180c2000000"), source, 0x0026, new byte[38]);
            case FORGED_MAC -> ipv4(target, mac(nobody), ours, theirs, 17, udp(4000, 4000));
            case FORGED_IP -> ipv4(target, source, ip(nobody.ipv4().text()), theirs, 17, udp(4000, 4000));
            case FORGED_ARP -> arp(target, from.endpoint(), 2, ip(nobody.ipv4().text()), target, theirs);
            case FORGED_TAG -> tagged(datagram, 0x8100, to.vlan());
            case FORGED_OTHER_TAG -> tagged(datagram, 0x8100, 4000);
            case PRIORITY_TAG -> tagged(datagram, 0x8100, 0);
            case DOUBLE_TAG -> tagged(tagged(datagram, 0x8100, to.vlan()), 0x8100, from.vlan());
            case SERVICE_TAG -> tagged(datagram, 0x88a8, to.vlan());
            case DHCP_OFFER -> ipv4(target, source, ours, theirs, 17, udp(67, 68));
            case STRANGE_ETHERTYPE -> ethernet(target, source, 0x88b5, new byte[46]);
            case WRONG_ADDRESS_FOR_MAC ->
                ipv4(target, source, ours, ip(nobody.ipv4().text()), 17, udp(4000, 4000));
            default -> overIpv6(from, to, source, target);
        };
    }

    private byte[] overIpv6(BridgeMachines from, BridgeMachines to, byte[] source, byte[] target) {
        byte[] ours = from.ipv6();
        byte[] theirs = to.ipv6();
        byte[] group = BridgeMachines.bytes("ff02::1:ff00:0");
        System.arraycopy(theirs, 13, group, 13, 3);
        byte[] groupMac = {0x33, 0x33, (byte) 0xff, theirs[13], theirs[14], theirs[15]};
        byte[] forged = BridgeMachines.bytes("fd00:77::99");
        byte[] all = BridgeMachines.bytes("ff02::1");
        return switch (this) {
            case IPV6 -> ipv6(target, source, ours, theirs, 58, icmpv6(128));
            case ND_SOLICITATION -> ipv6(groupMac, source, ours, group, 58, neighbour(135, theirs, source));
            case ND_ADVERTISEMENT -> ipv6(target, source, ours, theirs, 58, neighbour(136, ours, source));
            case ROUTER_ADVERTISEMENT -> ipv6(target, source, ours, theirs, 58, icmpv6(134));
            case IPV6_MULTICAST -> ipv6(hex("333300000001"), source, ours, all, 17, udp(4000, 4000));
            case FORGED_IPV6 -> ipv6(target, source, forged, theirs, 58, icmpv6(128));
            case FORGED_ADVERTISEMENT -> ipv6(target, source, ours, theirs, 58, neighbour(136, forged, source));
            default -> throw new IllegalStateException("no frame for " + this);
        };
    }

    private static byte[] hex(String digits) {
        return HexFormat.of().parseHex(digits);
    }
}
