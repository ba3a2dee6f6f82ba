package org.cloister.lab.booted;

import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.cloister.lab.LabMachine;

/**
 * Both networks of a booted site, as bridges in the namespaces where its machines' QEMUs run: {@code mgmt}, on which
 * the caller has the address 1, and {@code trunk}, which carries the hosts' tagged frames.
 */
final class BootedNetwork {
    static final String PREFIX = "192.168.141.";
    static final List<String> BRIDGES =
            Stream.of(BootedCable.values()).map(BootedCable::bridge).toList();

    private BootedNetwork() {}

    static void create(LabMachine network) throws IOException {
        for (String bridge : BRIDGES) {
            network.command("ip", "link", "add", "name", bridge, "type", "bridge")
                    .succeed();
            network.command("ip", "link", "set", bridge, "up").succeed();
        }
        network.command("ip", "address", "add", PREFIX + "1/24", "dev", "mgmt").succeed();
    }

    static void join(LabMachine network, String machine) throws IOException {
        for (String bridge : BRIDGES) {
            String tap = tap(bridge, machine);
            network.command("ip", "tuntap", "add", tap, "mode", "tap").succeed();
            network.command("ip", "link", "set", tap, "master", bridge, "up").succeed();
        }
    }

    static String tap(String bridge, String machine) {
        return bridge + "-" + machine;
    }
}
