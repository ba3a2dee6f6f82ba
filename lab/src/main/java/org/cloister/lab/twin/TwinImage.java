package org.cloister.lab.twin;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.cloister.lab.LabCommand;
import org.cloister.lab.vm.ImageWithLayer;

/**
 * Builds the image of the twin's guests: the lab image, in which systemd starts an sshd and the network and nothing of
 * ours. All programs that the twin needs are in the image.
 */
final class TwinImage {
    static final String NAME = "twin";
    /** A member's login on controller and worker. */
    static final String USER = "ada";

    /** The same id as munge's in packaging/image/base/accounts. */
    private static final int MUNGE = 402;

    private static final String UNITS = "etc/systemd/system/";
    /** Files below {@code /usr/lib/twin} in the guests. */
    private static final List<String> FILES =
            List.of("network", "controller", "guard.nft", "controller.conf", "worker.conf");

    private TwinImage() {}

    /**
     * @param folder a new one, on the file system of the image
     * @param key with which the administrator logs in; its public part is in a file beside it
     * @param hostKey of all of the twin's guests
     */
    static void build(Path image, Path folder, Path key, Path hostKey) throws IOException {
        ImageWithLayer layer = new ImageWithLayer(image, folder, NAME);
        for (String file : FILES) {
            layer.write("usr/lib/twin/" + file, text("guest/" + file));
        }
        layer.mode("usr/lib/twin/network", "rwxr-xr-x");
        layer.mode("usr/lib/twin/controller", "rwxr-xr-x");
        layer.write("etc/strongswan.conf", text("guest/strongswan.conf"));
        layer.write("etc/slurm/slurm.conf", text("guest/slurm.conf"));
        layer.write("etc/slurm/job_submit.lua", text("guest/job_submit.lua"));
        // The image has no D-Bus, over which slurmd would ask systemd for cgroups.
        layer.write("etc/slurm/cgroup.conf", "IgnoreSystemd=yes\n");
        layer.write("etc/hosts", "127.0.0.1 localhost\n10.98.0.1 twin-controller\n10.98.0.2 twin-worker\n");
        layer.directory("etc/munge");
        layer.mode("etc/munge", "rwx------");
        layer.owner("etc/munge", MUNGE);
        accounts(layer, image);
        sshd(layer, key, hostKey);
        units(layer);
        layer.build();
    }

    private static void accounts(ImageWithLayer layer, Path image) throws IOException {
        layer.write("etc/passwd", inImage(image, "passwd") + USER + ":x:2001:2001::/project/home/ada:/bin/bash\n");
        layer.write("etc/group", inImage(image, "group") + USER + ":x:2001:\n");
        layer.write("etc/shadow", inImage(image, "shadow") + USER + ":*:20000:0:99999:7:::\n");
        layer.mode("etc/shadow", "rw-------");
    }

    /** Returns a file's content from the image's topmost layer, or from the layer below. */
    private static String inImage(Path image, String file) throws IOException {
        LabCommand.Output top = LabCommand.of(
                        "unsquashfs", "-cat", image.resolve("lab.squashfs").toString(), "etc/" + file)
                .run();
        return top.exit() == 0 && !top.out().isEmpty()
                ? top.out()
                : LabCommand.of(
                                "unsquashfs",
                                "-cat",
                                image.resolve("base.squashfs").toString(),
                                "etc/" + file)
                        .succeed();
    }

    private static void sshd(ImageWithLayer layer, Path key, Path hostKey) throws IOException {
        layer.copy("etc/ssh/ssh_host_ed25519_key", Files.readAllBytes(hostKey));
        layer.mode("etc/ssh/ssh_host_ed25519_key", "rw-------");
        layer.copy("etc/ssh/twin_keys", Files.readAllBytes(key.resolveSibling(key.getFileName() + ".pub")));
        layer.write("etc/ssh/sshd_config.d/twin.conf", """
                HostKey /etc/ssh/ssh_host_ed25519_key
                AuthorizedKeysFile /etc/ssh/twin_keys
                UsePAM no
                """);
    }

    /**
     * Adds units that start sshd and network in parallel with the first units of the boot, when agent-vm would start.
     */
    private static void units(ImageWithLayer layer) throws IOException {
        layer.write(UNITS + "twin-sshd.service", """
                [Unit]
                DefaultDependencies=no
                [Service]
                RuntimeDirectory=sshd
                ExecStart=/usr/sbin/sshd -D
                KillMode=process
                """);
        layer.write(UNITS + "twin-network.service", """
                [Unit]
                DefaultDependencies=no
                After=systemd-modules-load.service
                [Service]
                Type=oneshot
                RemainAfterExit=yes
                ExecStart=/usr/lib/twin/network
                """);
        layer.write(UNITS + "twin-charon.service", """
                [Unit]
                DefaultDependencies=no
                [Service]
                ExecStart=/usr/sbin/charon-systemd
                """);
        for (String unit : List.of("twin-sshd.service", "twin-network.service")) {
            layer.link(UNITS + "cloister.target.wants/" + unit, "../" + unit);
        }
        // These units would poll for their ports all the time.
        for (String unit : List.of("agent-vm.service", "lab-runner.service", "lab-console.service")) {
            layer.link(UNITS + unit, "/dev/null");
        }
    }

    /** Returns a resource file beside this class. */
    static String text(String file) throws IOException {
        try (InputStream in = TwinImage.class.getResourceAsStream(file)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
