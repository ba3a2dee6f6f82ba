package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.cloister.lab.scenario.EgressMachines.G;
import static org.cloister.lab.scenario.EgressMachines.H;
import static org.cloister.lab.scenario.NamespaceMachines.wire;
import static org.cloister.lab.scenario.NumberedFrames.arp;
import static org.cloister.lab.scenario.NumberedFrames.broadcast;
import static org.cloister.lab.scenario.NumberedFrames.icmpEcho;
import static org.cloister.lab.scenario.NumberedFrames.ip;
import static org.cloister.lab.scenario.NumberedFrames.ipv4;
import static org.cloister.lab.scenario.NumberedFrames.mac;
import static org.cloister.lab.scenario.NumberedFrames.tagged;
import static org.cloister.lab.scenario.NumberedFrames.tcp;
import static org.cloister.lab.scenario.NumberedFrames.udp;

import com.codahale.metrics.MetricRegistry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHost;
import org.cloister.lab.scenario.EgressMachines.Service;
import org.cloister.ovs.SecureBridge;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Traffic that leaves a project and returns, by frames that are captured at each machine and on the wire. */
@Tag("scenario")
@Tag("ovs")
@ExtendWith(SharedLab.class)
class EgressFramesTest {
    private static final int TCP = 6;
    private static final int UDP = 17;
    private static final int EPHEMERAL = 40000;
    private static final int SYN = 0x02;
    private static final int SYN_ACK = 0x12;
    private static final int ACK = 0x10;
    private static final byte[] NOBODY = ip("10.78.0.99");
    private static final byte[] NO_SERVICE = ip("192.0.2.9");
    private static final List<EgressMachines> GATEWAYS = List.of(G, H);

    private final List<SecureBridge> bridges = new ArrayList<>();
    private final Lab lab;
    private final NamespaceMachines machines;

    EgressFramesTest(Lab lab) throws IOException {
        this.lab = lab;
        this.machines = new NamespaceMachines(lab);
    }

    @BeforeEach
    void start() throws IOException {
        for (EgressMachines each : EgressMachines.ALL) {
            machines.enter(each.name(), lab.host(each.host()));
        }
        for (int host = 1; host <= 2; host++) {
            SecureBridge bridge = SecureBridge.open(lab.host(host).bridge(), new MetricRegistry());
            bridges.add(bridge);
            bridge.replace(EgressMachines.plans(host));
        }
    }

    @AfterEach
    void stop() throws IOException {
        for (SecureBridge bridge : bridges) {
            try (bridge) {
                bridge.replace(List.of());
            }
        }
        machines.close();
        for (LabHost host : lab.hosts()) {
            host.ovs().ofctl("del-flows", "br-secure");
        }
    }

    @Test
    void only_listed_services_are_reached_and_only_through_the_own_gateway() throws IOException {
        for (EgressMachines from : EgressMachines.machines()) {
            for (EgressMachines gateway : GATEWAYS) {
                byte[] ask = arp(broadcast(), from.self(), 1, address(from), new byte[6], address(gateway));
                out("ARP for the gateway", from, gateway, from.usesGateway(gateway), ask);
                for (Service service : Service.values()) {
                    requests(from, gateway, service);
                }
            }
        }
        check("requests");
    }

    @Test
    void only_answers_of_listed_services_come_back() throws IOException {
        for (EgressMachines gateway : GATEWAYS) {
            for (EgressMachines to : EgressMachines.machines()) {
                byte[] arp = arp(mac(to.self()), gateway.self(), 2, address(gateway), mac(to.self()), address(to));
                boolean known = gateway.admits(to);
                back("ARP", gateway, to, known, known, arp);
                back(
                        "ping",
                        gateway,
                        to,
                        false,
                        false,
                        packet(gateway, to, address(gateway), address(to), 1, icmpEcho()));
                for (Service service : Service.values()) {
                    answers(gateway, to, service);
                }
            }
        }
        check("answers");
    }

    @Test
    void a_host_that_forges_a_gateway_gets_no_further_than_the_gateway() throws IOException {
        for (int vlan : new int[] {EgressMachines.VLAN, EgressMachines.OTHER_VLAN}) {
            for (EgressMachines as : EgressMachines.ALL) {
                for (EgressMachines to : EgressMachines.machines()) {
                    if (as.host() == 2 && to.host() == 1) {
                        for (Service service : Service.values()) {
                            forged(vlan, as, to, service);
                        }
                    }
                }
            }
        }
        check("forged on the wire");
    }

    @Test
    void a_common_way_out_joins_no_two_machines() throws IOException {
        byte[] service = ip(Service.LICENCE.destination().address().text());
        for (EgressMachines from : EgressMachines.machines()) {
            for (EgressMachines to : EgressMachines.machines()) {
                if (!from.equals(to)) {
                    byte[] ours = address(from);
                    Map<String, byte[]> frames = Map.of(
                            "ARP", arp(broadcast(), from.self(), 1, ours, new byte[6], address(to)),
                            "UDP", packet(from, to, ours, address(to), UDP, udp(4000, 4000)),
                            "as a service", packet(from, to, service, address(to), TCP, tcp(27000, EPHEMERAL, ACK)));
                    for (Map.Entry<String, byte[]> each : frames.entrySet()) {
                        machines.send(each.getKey() + " to " + to, from.name(), each.getValue(), Set.of());
                    }
                }
            }
        }
        check("between machines");
    }

    private void requests(EgressMachines from, EgressMachines gateway, Service service) throws IOException {
        boolean may = from.usesGateway(gateway) && from.has(service) && gateway.has(service);
        byte[] ours = address(from);
        byte[] there = ip(service.destination().address().text());
        int protocol = service.isTcp() ? TCP : UDP;
        int other = service.isTcp() ? UDP : TCP;
        int port = service.destination().port();
        byte[] request = packet(from, gateway, ours, there, protocol, to(protocol, port));
        Map<String, byte[]> refused = new LinkedHashMap<>();
        refused.put("port above", packet(from, gateway, ours, there, protocol, to(protocol, port + 1)));
        refused.put("port below", packet(from, gateway, ours, there, protocol, to(protocol, port - 1)));
        refused.put("other protocol", packet(from, gateway, ours, there, other, to(other, port)));
        refused.put("other address", packet(from, gateway, ours, NO_SERVICE, protocol, to(protocol, port)));
        refused.put("gateway itself", packet(from, gateway, ours, address(gateway), protocol, to(protocol, port)));
        refused.put("forged sender", packet(from, gateway, NOBODY, there, protocol, to(protocol, port)));
        refused.put("ping", packet(from, gateway, ours, there, 1, icmpEcho()));
        refused.put("tagged", tagged(request, 0x8100, gateway.vlan()));
        refused.put("second fragment", fragment(request.clone()));
        refused.put("ARP for it", arp(broadcast(), from.self(), 1, ours, new byte[6], there));
        out(service + " asked", from, gateway, may, request);
        for (Map.Entry<String, byte[]> each : refused.entrySet()) {
            out(service + " " + each.getKey(), from, gateway, false, each.getValue());
        }
    }

    private void answers(EgressMachines gateway, EgressMachines to, Service service) throws IOException {
        for (Map.Entry<String, byte[]> each : answersOf(service, gateway, to).entrySet()) {
            boolean leaves = isAnswer(each.getKey(), service) && gateway.admits(to) && gateway.has(service);
            // The gateway's host does not know which of its services a machine elsewhere may use: that one's host does.
            back(service + " " + each.getKey(), gateway, to, leaves, leaves && to.has(service), each.getValue());
        }
    }

    private void forged(int vlan, EgressMachines as, EgressMachines to, Service service) throws IOException {
        for (Map.Entry<String, byte[]> each : answersOf(service, as, to).entrySet()) {
            boolean passes =
                    isAnswer(each.getKey(), service) && vlan == to.vlan() && to.usesGateway(as) && to.has(service);
            Set<String> expected = passes ? Set.of(wire(1), to.name()) : Set.of(wire(1));
            String what = service + " " + each.getKey() + " in VLAN " + vlan + " as " + as + " to " + to;
            machines.send(what, wire(2), tagged(each.getValue(), 0x8100, vlan), expected);
        }
    }

    /** What a gateway could send in the name of a service, by what is peculiar to it. */
    private static Map<String, byte[]> answersOf(Service service, EgressMachines gateway, EgressMachines to) {
        byte[] there = ip(service.destination().address().text());
        byte[] target = address(to);
        int port = service.destination().port();
        Map<String, byte[]> answers = new LinkedHashMap<>();
        answers.put("first segment", packet(gateway, to, there, target, TCP, tcp(port, EPHEMERAL, SYN_ACK)));
        answers.put("next segment", packet(gateway, to, there, target, TCP, tcp(port, EPHEMERAL, ACK)));
        answers.put("datagram", packet(gateway, to, there, target, UDP, udp(port, EPHEMERAL)));
        answers.put("new connection", packet(gateway, to, there, target, TCP, tcp(port, EPHEMERAL, SYN)));
        answers.put("other port", packet(gateway, to, there, target, TCP, tcp(port + 1, EPHEMERAL, ACK)));
        answers.put("other datagram", packet(gateway, to, there, target, UDP, udp(port + 1, EPHEMERAL)));
        answers.put("other address", packet(gateway, to, NO_SERVICE, target, TCP, tcp(port, EPHEMERAL, ACK)));
        answers.put("own address", packet(gateway, to, address(gateway), target, TCP, tcp(port, EPHEMERAL, ACK)));
        answers.put("for another", packet(gateway, to, there, NOBODY, TCP, tcp(port, EPHEMERAL, ACK)));
        return answers;
    }

    private static boolean isAnswer(String kind, Service service) {
        return switch (kind) {
            case "first segment", "next segment" -> service.isTcp();
            case "datagram" -> !service.isTcp();
            default -> false;
        };
    }

    /** What the sender's host lets go, the gateway's may still refuse. */
    private void out(String what, EgressMachines from, EgressMachines gateway, boolean leaves, byte[] frame)
            throws IOException {
        back(what, from, gateway, leaves, leaves && gateway.admits(from), frame);
    }

    /** @param leaves whether it goes as far as the wire, if the target is on another host */
    private void back(
            String what, EgressMachines from, EgressMachines to, boolean leaves, boolean arrives, byte[] frame)
            throws IOException {
        Set<String> expected = new TreeSet<>();
        if (leaves && from.host() != to.host()) {
            expected.add(wire(to.host()));
        }
        if (arrives) {
            expected.add(to.name());
        }
        machines.send(what + " to " + to, from.name(), frame, expected);
    }

    private void check(String what) {
        List<String> differences = machines.differences();
        System.out.println("egress, " + what + ": " + machines.judged() + " cells, " + machines.awaited()
                + " of them to arrive somewhere, " + differences.size() + " wrong");
        assertThat(differences).isEmpty();
    }

    private static byte[] packet(
            EgressMachines from, EgressMachines to, byte[] source, byte[] target, int protocol, byte[] contents) {
        return ipv4(mac(to.self()), mac(from.self()), source, target, protocol, contents);
    }

    private static byte[] to(int protocol, int port) {
        return protocol == TCP ? tcp(EPHEMERAL, port, SYN) : udp(EPHEMERAL, port);
    }

    /** The packet as if another part of it had gone before, RFC 791 section 3.1. */
    private static byte[] fragment(byte[] frame) {
        ByteBuffer whole = ByteBuffer.wrap(frame);
        whole.putShort(20, (short) 1);
        whole.putShort(24, (short) (whole.getShort(24) - 1));
        return frame;
    }

    private static byte[] address(EgressMachines being) {
        return ip(being.self().ipv4().text());
    }
}
