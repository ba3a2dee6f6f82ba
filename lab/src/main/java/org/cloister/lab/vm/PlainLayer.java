package org.cloister.lab.vm;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.cloister.lab.Command;
import org.cloister.lab.LabException;
import org.cloister.protocol.Digest;
import org.cloister.protocol.ImageFile;
import org.cloister.protocol.ImageLayer;
import org.cloister.protocol.ImageManifest;

/**
 * A built image with one more layer over it, in which systemd starts a plain {@code slurmd} right after the network and agent-vm
 * does not start at all. Kernel, firmware, initramfs and all other layers are the image's own files.
 */
final class PlainLayer {
    private static final String NAME = "plain";
    private static final String DEVICE = "eth0";
    /** As packaging/image/base/accounts has munge's. */
    private static final int MUNGE = 402;

    private static final String WANTS = "etc/systemd/system/%s.wants";

    private final Path folder;
    private final Path tree;

    private PlainLayer(Path folder) {
        this.folder = folder;
        this.tree = folder.resolve("tree");
    }

    /**
     * Makes the image's folder.
     *
     * @param folder a new one, on the file system of the image
     * @param address of the node, with its prefix
     * @param node the node's name in the configuration
     */
    static Path lay(Path image, Path folder, Path mungeKey, String slurmConf, String node, String address)
            throws IOException {
        PlainLayer layer = new PlainLayer(folder);
        layer.files(mungeKey, slurmConf, node);
        layer.units(address);
        layer.image(image);
        return folder;
    }

    private void files(Path mungeKey, String slurmConf, String node) throws IOException {
        write("etc/slurm/slurm.conf", slurmConf);
        // The image has no D-Bus, over which slurmd would ask systemd for cgroups.
        write("etc/slurm/cgroup.conf", "IgnoreSystemd=yes\n");
        write("etc/default/slurmd", "SLURMD_OPTIONS=\"-N " + node + "\"\n");
        Path key = tree.resolve("etc/munge/munge.key");
        Files.createDirectories(key.getParent());
        Files.copy(mungeKey, key);
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("r--------"));
        Files.setPosixFilePermissions(key.getParent(), PosixFilePermissions.fromString("rwx------"));
        for (Path each : List.of(key, key.getParent())) {
            Files.setAttribute(each, "unix:uid", MUNGE, LinkOption.NOFOLLOW_LINKS);
            Files.setAttribute(each, "unix:gid", MUNGE, LinkOption.NOFOLLOW_LINKS);
        }
    }

    private void units(String address) throws IOException {
        write("etc/systemd/system/plain-network.service", """
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
        link(WANTS.formatted("network-online.target") + "/plain-network.service", "../plain-network.service");
        for (String unit : List.of("munge.service", "slurmd.service")) {
            link(WANTS.formatted("cloister.target") + "/" + unit, "/usr/lib/systemd/system/" + unit);
        }
        link("etc/systemd/system/agent-vm.service", "/dev/null");
    }

    private void image(Path image) throws IOException {
        try (Stream<Path> files = Files.list(image)) {
            for (Path file : files.toList()) {
                if (!file.endsWith(ImageManifest.FILE_NAME)) {
                    Files.createLink(folder.resolve(file.getFileName()), file);
                }
            }
        }
        manifest(image, pack(folder.resolve(NAME + ".squashfs")));
    }

    /** A squashfs with its hash tree behind it, as the image's build makes them. */
    private static ImageLayer pack(Path file) throws IOException {
        Path tree = file.resolveSibling("tree");
        Command.of("mksquashfs", tree.toString(), file.toString(), "-comp", "lz4", "-noappend", "-no-progress")
                .succeed();
        long blocks = (Files.size(file) + ImageLayer.BLOCK_BYTES - 1) / ImageLayer.BLOCK_BYTES;
        String bytes = Long.toString(blocks * ImageLayer.BLOCK_BYTES);
        Command.of("truncate", "-s", bytes, file.toString()).succeed();
        String said = Command.of(
                        "veritysetup",
                        "format",
                        "--no-superblock",
                        "--hash=sha256",
                        "--data-block-size=" + ImageLayer.BLOCK_BYTES,
                        "--hash-block-size=" + ImageLayer.BLOCK_BYTES,
                        "--salt=-",
                        "--data-blocks=" + blocks,
                        "--hash-offset=" + bytes,
                        file.toString(),
                        file.toString())
                .succeed();
        String root = said.lines()
                .filter(line -> line.startsWith("Root hash:"))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst()
                .orElseThrow(() -> new LabException("veritysetup said " + said, "run it by hand"));
        return new ImageLayer(
                NAME,
                new ImageFile(file.getFileName().toString(), Files.size(file), Digest.sha384(file)),
                blocks,
                Digest.of(Digest.Algorithm.SHA256, HexFormat.of().parseHex(root)));
    }

    private void manifest(Path image, ImageLayer layer) throws IOException {
        ImageManifest below = ImageManifest.load(image);
        ObjectMapper json = new ObjectMapper();
        ObjectNode manifest = (ObjectNode)
                json.readTree(image.resolve(ImageManifest.FILE_NAME).toFile());
        String words = below.commandLine() + " " + layer.commandLineWord();
        manifest.put("variant", NAME).put("cmdline", words);
        manifest.withArray("layers")
                .addObject()
                .put("name", layer.name())
                .put("file", layer.file().name())
                .put("size", layer.file().size())
                .put("sha384", layer.file().sha384().hex())
                .put("dataBlocks", layer.dataBlocks())
                .put("rootHash", layer.rootHash().hex());
        String parts = "cloister-image-v1\nfirmware " + below.firmware().sha384() + "\nkernel "
                + below.kernel().sha384() + "\ninitrd " + below.initrd().sha384() + "\ncmdline " + Digest.sha384(words)
                + "\n";
        manifest.put("identity", Digest.sha384(parts).hex());
        json.writeValue(folder.resolve(ImageManifest.FILE_NAME).toFile(), manifest);
    }

    private void write(String file, String text) throws IOException {
        Path path = tree.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private void link(String file, String to) throws IOException {
        Path path = tree.resolve(file);
        Files.createDirectories(path.getParent());
        Files.createSymbolicLink(path, Path.of(to));
    }
}
