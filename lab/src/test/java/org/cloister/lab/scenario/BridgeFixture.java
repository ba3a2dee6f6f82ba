package org.cloister.lab.scenario;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHost;
import org.cloister.lab.wire.FrameSocket;

/** The cast in place: each behind a tap of its host, or in a network namespace with the other end of a device there. */
final class BridgeFixture implements AutoCloseable {
    /** The bridge's own port on host 1. */
    static final String LOCAL = "local";

    /** What is sent here comes to host 1 as if host 2 had sent it. */
    static final String WIRE = "wire";

    private static final long TIMEOUT_MILLIS = 1500;
    private static final long AFTERWARDS_MILLIS = 100;
    private static final int BURST = 24;

    private final Lab lab;
    private final Map<String, FrameSocket> sockets = new LinkedHashMap<>();
    private final Map<Integer, Set<String>> arrived = new HashMap<>();
    private final FrameSocket wire;
    private int lastNumber;

    private BridgeFixture(Lab lab, FrameSocket wire) {
        this.lab = lab;
        this.wire = wire;
    }

    static BridgeFixture set(Lab lab) throws IOException {
        BridgeFixture stage = new BridgeFixture(lab, FrameSocket.open(network(lab.host(2)), "trunk0"));
        for (BridgeMachines each : BridgeMachines.ALL) {
            stage.enter(each);
        }
        for (LabHost host : lab.hosts()) {
            // Every frame comes to every host: forged senders would teach the wire otherwise.
            String port = "trunk-" + host.name();
            lab.onSite("ip", "link", "set", port, "type", "bridge_slave", "learning", "off")
                    .succeed();
        }
        lab.onSite("ip", "link", "set", "trunk", "type", "bridge", "fdb_flush").succeed();
        LabHost first = lab.host(1);
        first.command("ip", "link", "set", "br-secure", "up").succeed();
        stage.sockets.put(LOCAL, FrameSocket.open(network(first), "br-secure"));
        return stage;
    }

    /** A frame that was sent. */
    record Sent(int number, String what, Set<String> expected) {}

    /** Sends no faster than the switch forwards: it loses what it has not read in time. */
    Sent send(String from, byte[] frame, String what, Set<String> expected) throws IOException {
        Sent sent = fire(from, frame, what, expected);
        if (sent.number() % BURST == 0) {
            keepPace(from);
        }
        return sent;
    }

    Sent send(BridgeMachines from, IsolationProbe probe, BridgeMachines to) throws IOException {
        Sent sent = fire(from, probe, to);
        if (sent.number() % BURST == 0) {
            keepPace(from.name());
        }
        return sent;
    }

    /** Sends whether or not anything forwards. */
    Sent fire(BridgeMachines from, IsolationProbe probe, BridgeMachines to) throws IOException {
        Set<String> expected = probe.passes(from, to) ? Set.of(to.name()) : Set.of();
        return fire(from.name(), probe.frame(from, to), from.name() + " " + probe + " " + to.name(), expected);
    }

    private Sent fire(String from, byte[] frame, String what, Set<String> expected) throws IOException {
        int number = ++lastNumber;
        socket(from).send(NumberedFrames.numbered(frame, number));
        if (number % BURST == 0) {
            receive();
        }
        return new Sent(number, what, expected);
    }

    /** Frames of one sender are forwarded in turn: when one that may pass has come, those before it are through. */
    private void keepPace(String from) throws IOException {
        if (from.equals(LOCAL)) {
            sleep(2);
            return;
        }
        BridgeMachines as = from.equals(WIRE)
                ? first(each -> each.host() == 2)
                : first(each -> each.name().equals(from));
        BridgeMachines to = first(each -> as.mayReach(each) && (!from.equals(WIRE) || each.host() == 1));
        byte[] frame = IsolationProbe.UDP.frame(as, to);
        byte[] whole = from.equals(WIRE) ? NumberedFrames.tagged(frame, 0x8100, as.vlan()) : frame;
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MILLIS);
        Sent paced = fire(from, whole, "pace", Set.of(to.name()));
        for (int waited = 1; isMissing(paced) && System.nanoTime() < deadline; waited++) {
            sleep(1);
            receive();
            if (waited % 50 == 0 && isMissing(paced)) {
                paced = fire(from, whole, "pace", Set.of(to.name()));
            }
        }
    }

    private static BridgeMachines first(Predicate<BridgeMachines> which) {
        return BridgeMachines.ALL.stream().filter(which).findFirst().orElseThrow();
    }

    /** Waits until all that is expected has come, or cannot be expected any more. */
    void settle(List<Sent> all) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MILLIS);
        while (System.nanoTime() < deadline && all.stream().anyMatch(this::isMissing)) {
            receive();
            sleep(5);
        }
        sleep(AFTERWARDS_MILLIS);
        receive();
    }

    boolean isMissing(Sent sent) {
        return !arrivals(sent).containsAll(sent.expected());
    }

    /** Where it came though it should not have. */
    Set<String> wrong(Sent sent) {
        Set<String> wrong = new TreeSet<>(arrivals(sent));
        wrong.removeAll(sent.expected());
        return wrong;
    }

    Set<String> arrivals(Sent sent) {
        return arrived.getOrDefault(sent.number(), Set.of());
    }

    void forget() {
        arrived.clear();
    }

    void receive() {
        sockets.forEach((name, socket) -> {
            for (byte[] frame = socket.receive(); frame != null; frame = socket.receive()) {
                int number = NumberedFrames.number(frame);
                if (number >= 0) {
                    arrived.computeIfAbsent(number, key -> new TreeSet<>()).add(name);
                }
            }
        });
    }

    @Override
    public void close() throws IOException {
        wire.close();
        sockets.values().forEach(FrameSocket::close);
        for (BridgeMachines each : BridgeMachines.ALL) {
            LabHost host = lab.host(each.host());
            host.command("ip", "netns", "delete", each.name()).run();
            host.command("ip", "link", "delete", each.device()).run();
        }
    }

    static void sleep(long millis) {
        try {
            TimeUnit.MILLISECONDS.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private FrameSocket socket(String name) {
        if (name.equals(WIRE)) {
            return wire;
        }
        FrameSocket socket = sockets.get(name);
        if (socket == null) {
            throw new IllegalArgumentException(name + ": not on the stage");
        }
        return socket;
    }

    private void enter(BridgeMachines each) throws IOException {
        LabHost host = lab.host(each.host());
        if (each.isOnTap()) {
            sockets.put(each.name(), FrameSocket.tap(network(host), each.device()));
            host.command("ip", "link", "set", each.device(), "up").succeed();
            return;
        }
        List<List<String>> commands = new ArrayList<>();
        commands.add(List.of("ip", "netns", "add", each.name()));
        commands.add(List.of(
                "ip", "link", "add", each.device(), "type", "veth", "peer", "name", "eth0", "netns", each.name()));
        commands.add(List.of("ip", "-n", each.name(), "link", "set", "eth0", "up"));
        commands.add(List.of("ip", "link", "set", each.device(), "up"));
        for (List<String> command : commands) {
            host.command(command.toArray(String[]::new)).succeed();
        }
        Path namespace = Path.of("/proc", Long.toString(host.pid()), "root/run/netns", each.name());
        sockets.put(each.name(), FrameSocket.open(namespace, "eth0"));
    }

    private static Path network(LabHost host) {
        return Path.of("/proc", Long.toString(host.pid()), "ns/net");
    }
}
