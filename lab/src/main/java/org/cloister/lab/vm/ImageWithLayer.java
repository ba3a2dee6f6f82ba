package org.cloister.lab.vm;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.cloister.base.encoding.Digest;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;
import org.cloister.protocol.image.ImageFile;
import org.cloister.protocol.image.ImageLayer;
import org.cloister.protocol.image.ImageManifest;

/**
 * A built image with one more layer over it, of files that a bench needs in its guests. Kernel, firmware, initramfs and
 * all other layers are the image's own files.
 */
public final class ImageWithLayer {
    private final Path image;
    private final Path folder;
    private final String name;
    private final Path tree;

    /**
     * @param folder a new one, on the file system of the image
     * @param name of the layer
     */
    public ImageWithLayer(Path image, Path folder, String name) {
        this.image = image;
        this.folder = folder;
        this.name = name;
        this.tree = folder.resolve("tree");
    }

    public Path folder() {
        return folder;
    }

    /** @param file below the guest's root */
    public void write(String file, String text) throws IOException {
        copy(file, text.getBytes(StandardCharsets.UTF_8));
    }

    public void copy(String file, byte[] bytes) throws IOException {
        Path path = tree.resolve(file);
        Files.createDirectories(path.getParent());
        Files.write(path, bytes);
    }

    public void link(String file, String to) throws IOException {
        Path path = tree.resolve(file);
        Files.createDirectories(path.getParent());
        Files.createSymbolicLink(path, Path.of(to));
    }

    /** @param permissions as {@code ls} shows them */
    public void mode(String file, String permissions) throws IOException {
        Path path = tree.resolve(file);
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
    }

    /** Sets the owner of an existing file or folder; its group has the same number. */
    public void owner(String file, int id) throws IOException {
        Files.setAttribute(tree.resolve(file), "unix:uid", id, LinkOption.NOFOLLOW_LINKS);
        Files.setAttribute(tree.resolve(file), "unix:gid", id, LinkOption.NOFOLLOW_LINKS);
    }

    public void directory(String file) throws IOException {
        Files.createDirectories(tree.resolve(file));
    }

    /** Builds the image's folder from the files that were written. */
    public void build() throws IOException {
        try (Stream<Path> files = Files.list(image)) {
            for (Path file : files.toList()) {
                if (!file.endsWith(ImageManifest.FILE_NAME)) {
                    Files.createLink(folder.resolve(file.getFileName()), file);
                }
            }
        }
        manifest(pack(folder.resolve(name + ".squashfs")));
    }

    /** Packs a squashfs followed by its hash tree, as the image's build makes them. */
    private ImageLayer pack(Path file) throws IOException {
        LabCommand.of("mksquashfs", tree.toString(), file.toString(), "-comp", "lz4", "-noappend", "-no-progress")
                .succeed();
        long blocks = (Files.size(file) + ImageLayer.BLOCK_BYTES - 1) / ImageLayer.BLOCK_BYTES;
        String bytes = Long.toString(blocks * ImageLayer.BLOCK_BYTES);
        LabCommand.of("truncate", "-s", bytes, file.toString()).succeed();
        String output = LabCommand.of(
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
        String root = output.lines()
                .filter(line -> line.startsWith("Root hash:"))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst()
                .orElseThrow(() -> new LabException("veritysetup said " + output, "run it by hand"));
        return new ImageLayer(
                name,
                new ImageFile(file.getFileName().toString(), Files.size(file), Digest.sha384(file)),
                blocks,
                Digest.of(Digest.Algorithm.SHA256, HexFormat.of().parseHex(root)));
    }

    private void manifest(ImageLayer layer) throws IOException {
        ImageManifest below = ImageManifest.load(image);
        ObjectMapper json = new ObjectMapper();
        ObjectNode manifest = (ObjectNode)
                json.readTree(image.resolve(ImageManifest.FILE_NAME).toFile());
        String text = below.commandLine() + " " + layer.commandLineWord();
        manifest.put("variant", name).put("cmdline", text);
        manifest.withArray("layers")
                .addObject()
                .put("name", layer.name())
                .put("file", layer.file().name())
                .put("size", layer.file().size())
                .put("sha384", layer.file().sha384().hex())
                .put("dataBlocks", layer.dataBlocks())
                .put("rootHash", layer.rootHash().hex());
        String parts = "cloister-image-v1\nfirmware " + below.firmware().sha384() + "\nkernel "
                + below.kernel().sha384() + "\ninitrd " + below.initrd().sha384() + "\ncmdline " + Digest.sha384(text)
                + "\n";
        manifest.put("identity", Digest.sha384(parts).hex());
        json.writeValue(folder.resolve(ImageManifest.FILE_NAME).toFile(), manifest);
    }
}
