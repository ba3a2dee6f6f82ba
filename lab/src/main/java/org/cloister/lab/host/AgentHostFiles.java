package org.cloister.lab.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabHost;
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.protocol.identity.CertificateName;

/**
 * Files with which agent-host is started on a host of the lab: its configuration, certificate and image, in the host's
 * own folder.
 */
public final class AgentHostFiles {
    public static final Duration POWER_OFF = Duration.ofSeconds(1);
    /** Power-off time for guests with a running agent: agent-host's default. */
    public static final Duration ORDERLY = Duration.ofSeconds(20);
    /** Lease age of drives, the shortest permitted: a VM that takes the drive over from a dead host waits as long. */
    public static final Duration DRIVE = Duration.ofSeconds(12);

    private AgentHostFiles() {}

    public static Path state(LabHost host) throws IOException {
        return host.folder("agent");
    }

    public static Path scratch(LabHost host) throws IOException {
        return host.folder("scratch");
    }

    public static Path socket(LabHost host) throws IOException {
        return host.folder("sock").resolve("agent-host");
    }

    /**
     * Writes the files.
     *
     * @param relay address and port that the host reaches
     * @param drives of controlling VMs
     * @param console whether each VM has a serial console, in a file of its folder, and the time to end by itself
     * @return the configuration
     */
    public static Path write(LabHost host, RelaySiteFiles site, String relay, Optional<Path> drives, boolean console)
            throws IOException {
        CertificateName name = new CertificateName(host.name(), RelaySiteFiles.HOST.role(), CertificateName.SITE);
        Path images = images(host);
        // A host does not see the caller's folder.
        Path etc = host.folder("agent-etc");
        for (Path each : List.of(site.certificate(name), site.key(name), site.siteCertificate())) {
            Files.copy(each, etc.resolve(each.getFileName().toString()), StandardCopyOption.REPLACE_EXISTING);
        }
        return Files.writeString(etc.resolve("agent-host.toml"), """
                relays = ["%s"]
                certificate = "%s"
                key = "%s"
                site = "%s"
                state = "%s"
                scratch = "%s"
                scratch-mib = 4096
                images = "%s"
                socket = "%s"
                group = "root"

                [slurm]
                node = "%s"
                account = "root"

                [libvirt]
                uri = "%s"

                [bridge]
                open-vswitch = "%s"
                datapath = "netdev"
                uplink = "trunk0"

                [vm]
                accelerator = "%s"
                %s
                %s

                [times]
                power-off = %d
                drive = %d
                """.formatted(
                        relay,
                        etc.resolve(site.certificate(name).getFileName()),
                        etc.resolve(site.key(name).getFileName()),
                        etc.resolve(site.siteCertificate().getFileName()),
                        state(host),
                        scratch(host),
                        images,
                        socket(host),
                        host.name(),
                        host.libvirt().uri().replace("qemu+unix", "qemu"),
                        host.ovs().folder(),
                        host.accelerator().name().toLowerCase(Locale.ROOT),
                        drives.map(shared -> "drives = \"" + shared + "\"").orElse(""),
                        console ? "production = false\ndebug-console = true" : "",
                        (console ? ORDERLY : POWER_OFF).toSeconds(),
                        DRIVE.toSeconds()));
    }

    private static Path images(LabHost host) throws IOException {
        Path images = host.folder("images");
        if (!Files.exists(images.resolve("current"))) {
            Files.createSymbolicLink(
                    images.resolve("current"), LabHome.fromEnvironment().image("lab"));
        }
        return images;
    }
}
