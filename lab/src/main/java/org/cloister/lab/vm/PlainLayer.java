package org.cloister.lab.vm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The layer over a built image in which systemd starts a plain {@code slurmd} right after the network and agent-vm does
 * not start at all.
 */
final class PlainLayer {
    private static final String NAME = "plain";
    private static final String DEVICE = "eth0";
    /** The same id as munge's in packaging/image/base/accounts. */
    private static final int MUNGE = 402;

    private static final String WANTS = "etc/systemd/system/%s.wants";

    private final ImageWithLayer layer;

    private PlainLayer(ImageWithLayer layer) {
        this.layer = layer;
    }

    /**
     * Builds the image's folder.
     *
     * @param folder a new one, on the file system of the image
     * @param address of the node, with its prefix
     * @param node the node's name in the configuration
     */
    static Path build(Path image, Path folder, Path mungeKey, String slurmConf, String node, String address)
            throws IOException {
        PlainLayer plain = new PlainLayer(new ImageWithLayer(image, folder, NAME));
        plain.files(mungeKey, slurmConf, node);
        plain.units(address);
        plain.layer.build();
        return folder;
    }

    private void files(Path mungeKey, String slurmConf, String node) throws IOException {
        layer.write("etc/slurm/slurm.conf", slurmConf);
        // The image has no D-Bus, over which slurmd would ask systemd for cgroups.
        layer.write("etc/slurm/cgroup.conf", "IgnoreSystemd=yes\n");
        layer.write("etc/default/slurmd", "SLURMD_OPTIONS=\"-N " + node + "\"\n");
        layer.directory("etc/munge");
        layer.copy("etc/munge/munge.key", Files.readAllBytes(mungeKey));
        layer.mode("etc/munge/munge.key", "r--------");
        layer.mode("etc/munge", "rwx------");
        for (String each : List.of("etc/munge/munge.key", "etc/munge")) {
            layer.owner(each, MUNGE);
        }
    }

    private void units(String address) throws IOException {
        layer.write("etc/systemd/system/plain-network.service", """
                [Unit]
                DefaultDependencies=no
                After=systemd-modules-load.service
                Before=network-online.target
                [Service]
                Type=oneshot
                RemainAfterExit=yes
                ExecStart=/usr/sbin/ip address add %1$s dev %2$s
                ExecStart=/usr/sbin/ip link set %2$s up
                """.formatted(address, DEVICE));
        layer.link(WANTS.formatted("network-online.target") + "/plain-network.service", "../plain-network.service");
        for (String unit : List.of("munge.service", "slurmd.service")) {
            layer.link(WANTS.formatted("cloister.target") + "/" + unit, "/usr/lib/systemd/system/" + unit);
        }
        layer.link("etc/systemd/system/agent-vm.service", "/dev/null");
    }
}
