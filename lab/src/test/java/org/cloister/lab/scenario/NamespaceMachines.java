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
import org.cloister.lab.Lab;
import org.cloister.lab.LabHost;
import org.cloister.lab.wire.FrameSocket;

/**
 * Machines that a scenario names itself: a network namespace each, whose device is the other end of a port's device on a
 * host. Both ends of the wire between the hosts are watched too, so that a frame is seen where it leaves a host.
 */
final class NamespaceMachines implements AutoCloseable {
    private static final long TIMEOUT_MILLIS = 1500;
    private static final long AFTERWARDS_MILLIS = 100;
    private static final int BURST = 24;
    private static final int BATCH = 150;

    private final Map<String, FrameSocket> sockets = new LinkedHashMap<>();
    private final Map<String, LabHost> hosts = new LinkedHashMap<>();
    private final Map<Integer, Map<String, Integer>> arrived = new HashMap<>();
    private final List<Sent> waiting = new ArrayList<>();
    private final List<String> differences = new ArrayList<>();
    private int judged;
    private int awaited;
    private int lastNumber;

    NamespaceMachines(Lab lab) throws IOException {
        for (int number = 1; number <= 2; number++) {
            LabHost host = lab.host(number);
            host.command("ip", "link", "set", "br-secure", "up").succeed();
            sockets.put("local" + number, FrameSocket.open(network(host), "br-secure"));
            sockets.put(wire(number), FrameSocket.open(network(host), "trunk0"));
            // Every frame comes to every host: forged senders would teach the wire otherwise.
            lab.onSite("ip", "link", "set", "trunk-" + host.name(), "type", "bridge_slave", "learning", "off")
                    .succeed();
        }
        lab.onSite("ip", "link", "set", "trunk", "type", "bridge", "fdb_flush").succeed();
    }

    private record Sent(int number, String what, Set<String> expected) {}

    /** The end of the wire at this host: receives what comes to the host, and sends what seems to come from it. */
    static String wire(int host) {
        return "wire" + host;
    }

    static String device(String name) {
        return "cl-" + name;
    }

    void enter(String name, LabHost host) throws IOException {
        hosts.put(name, host);
        host.command("ip", "netns", "add", name).succeed();
        host.command("ip", "link", "add", device(name), "type", "veth", "peer", "name", "eth0", "netns", name)
                .succeed();
        host.command("ip", "-n", name, "link", "set", "eth0", "up").succeed();
        host.command("ip", "link", "set", device(name), "up").succeed();
        Path namespace = Path.of("/proc", Long.toString(host.pid()), "root/run/netns", name);
        sockets.put(name, FrameSocket.open(namespace, "eth0"));
    }

    /**
     * Sends a frame that is to be judged.
     *
     * @param expected every place where it is to arrive, the wire included
     */
    void send(String what, String from, byte[] frame, Set<String> expected) throws IOException {
        waiting.add(new Sent(send(from, frame), what + " from " + from, Set.copyOf(expected)));
        judged++;
        awaited += expected.isEmpty() ? 0 : 1;
        if (judged % BURST == 0) {
            receive();
        }
        if (waiting.size() == BATCH) {
            settle();
        }
    }

    /** How many frames were sent to be judged. */
    int judged() {
        return judged;
    }

    /** How many of these were to arrive anywhere. */
    int awaited() {
        return awaited;
    }

    /** What arrived elsewhere than expected, or did not arrive, as sentences. */
    List<String> differences() {
        settle();
        return differences;
    }

    /** Sends the frame and hands back its number. */
    int send(String from, byte[] frame) throws IOException {
        int number = ++lastNumber;
        socket(from).send(NumberedFrames.numbered(frame, number));
        return number;
    }

    /** Takes in what has arrived until now. */
    void receive() {
        sockets.forEach((name, socket) -> {
            for (byte[] frame = socket.receive(); frame != null; frame = socket.receive()) {
                int number = NumberedFrames.number(frame);
                if (number >= 0) {
                    arrived.computeIfAbsent(number, key -> new HashMap<>()).merge(name, 1, Integer::sum);
                }
            }
        });
    }

    private Set<String> at(int number) {
        return new TreeSet<>(arrived.getOrDefault(number, Map.of()).keySet());
    }

    /** How often any frame of these numbers was seen there. */
    int count(String name, int first, int last) {
        int count = 0;
        for (int number = first; number <= last; number++) {
            count += arrived.getOrDefault(number, Map.of()).getOrDefault(name, 0);
        }
        return count;
    }

    private void settle() {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MILLIS);
        while (System.nanoTime() < deadline
                && !waiting.stream().allMatch(sent -> at(sent.number()).containsAll(sent.expected()))) {
            receive();
            BridgeFixture.sleep(5);
        }
        BridgeFixture.sleep(AFTERWARDS_MILLIS);
        receive();
        for (Sent sent : waiting) {
            Set<String> at = at(sent.number());
            if (!at.equals(sent.expected())) {
                differences.add(sent.what() + ": want at " + new TreeSet<>(sent.expected()) + ", was at " + at);
            }
        }
        waiting.clear();
    }

    @Override
    public void close() throws IOException {
        sockets.values().forEach(FrameSocket::close);
        for (Map.Entry<String, LabHost> each : hosts.entrySet()) {
            each.getValue().command("ip", "netns", "delete", each.getKey()).run();
            each.getValue()
                    .command("ip", "link", "delete", device(each.getKey()))
                    .run();
        }
    }

    private FrameSocket socket(String name) {
        FrameSocket socket = sockets.get(name);
        if (socket == null) {
            throw new IllegalArgumentException(name + ": no such machine");
        }
        return socket;
    }

    private static Path network(LabHost host) {
        return Path.of("/proc", Long.toString(host.pid()), "ns/net");
    }
}
