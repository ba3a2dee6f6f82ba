package org.cloister.lab;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Both networks between the lab's machines, as switches on the site's machine: {@code mgmt}, which the site knows and
 * Slurm uses, and {@code trunk}, which carries the hosts' tagged frames and on which a scenario can listen.
 */
final class LabNetwork {
    /** The name of the trunk's end on each host. */
    static final String TRUNK_DEVICE = "trunk0";

    private final LabMachine site;

    private LabNetwork(LabMachine site) {
        this.site = site;
    }

    static LabNetwork start(LabMachine site) throws IOException {
        LabNetwork network = new LabNetwork(site);
        for (String bridge : new String[] {"mgmt", "trunk"}) {
            network.site("link", "add", "name", bridge, "type", "bridge");
            network.site("link", "set", bridge, "up");
        }
        network.site("address", "add", site.address() + "/24", "dev", "mgmt");
        return network;
    }

    void join(LabMachine host) throws IOException {
        connect(host, "mgmt", "mgmt0");
        connect(host, "trunk", TRUNK_DEVICE);
        host.command("ip", "address", "add", host.address() + "/24", "dev", "mgmt0")
                .succeed();
    }

    private void connect(LabMachine host, String bridge, String device) throws IOException {
        String port = bridge + "-" + host.name();
        String peer = Long.toString(host.sandbox().pid());
        site("link", "add", "name", port, "type", "veth", "peer", "name", device, "netns", peer);
        site("link", "set", port, "master", bridge, "up");
        host.command("ip", "link", "set", device, "up").succeed();
        // Frames pass userspace switches, which do not fill in checksums that a veth leaves out.
        host.command("ethtool", "-K", device, "tx", "off").succeed();
    }

    private void site(String... arguments) throws IOException {
        List<String> argv = new ArrayList<>(List.of("ip"));
        argv.addAll(List.of(arguments));
        site.sandbox().networkCommand(argv).succeed();
    }
}
