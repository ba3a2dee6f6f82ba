package org.cloister.protocol.image;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;

/**
 * Manifest of a guest image: the files that boot, and the identity by which owners accept the image.
 * {@code docs/image.md} defines the format. An existing object is consistent: its command line names exactly its
 * layers, and its identity is that of its parts.
 *
 * @param variant {@code production}, {@code lab} or a site's own name
 * @param kernelRelease as {@code uname -r} prints it in the guest
 * @param commandLine complete; nothing is added for a VM
 * @param layers lowest first
 */
public record ImageManifest(
        String variant,
        String version,
        ImageFile firmware,
        ImageFile kernel,
        String kernelRelease,
        ImageFile initrd,
        String commandLine,
        List<ImageLayer> layers,
        Digest identity) {
    public static final String FILE_NAME = "manifest.json";
    static final String FORMAT = "cloister-image-v1";
    private static final int MAX_BYTES = 256 * 1024;
    private static final int MAX_LAYERS = 16;
    private static final long MAX_FILE_BYTES = 1L << 44;
    private static final String LAYER_WORD = "cloister.layer=";
    private static final String BASE_LAYER = "base";
    private static final Pattern VARIANT = Pattern.compile("[a-z][a-z0-9-]{0,31}");
    private static final Pattern VERSION = Pattern.compile("[0-9A-Za-z][0-9A-Za-z.+~_-]{0,63}");
    /**
     * The kernel accepts any white space between words, and protects it in quotes; this format accepts one blank. x86
     * silently truncates a command line after 2,047 bytes, and with it a layer's root hash.
     */
    private static final Pattern COMMAND_LINE = Pattern.compile("[!#-~]+( [!#-~]+)*");

    private static final int MAX_COMMAND_LINE = 2047;

    public ImageManifest {
        layers = List.copyOf(layers);
    }

    /**
     * Reads the manifest in a folder.
     *
     * @param folder contains the manifest and the image's files, which are not read here
     */
    public static ImageManifest load(Path folder) throws IOException {
        Path file = folder.resolve(FILE_NAME);
        try {
            return parse(read(file));
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
    }

    /**
     * Reads one byte more than is allowed, which shows that the file is too large; reading the rest would waste memory.
     */
    private static byte[] read(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return in.readNBytes(MAX_BYTES + 1);
        }
    }

    public static ImageManifest parse(byte[] document) throws MalformedException {
        StrictJson json = StrictJson.read(document, MAX_BYTES);
        String format = json.text("format");
        if (!format.equals(FORMAT)) {
            throw new MalformedException("format: want " + FORMAT + ", have \"" + format + "\"");
        }
        StrictJson kernel = json.object("kernel");
        String release = kernel.text("release", VERSION);
        List<ImageLayer> layers = new ArrayList<>();
        for (StrictJson layer : json.objects("layers", MAX_LAYERS)) {
            layers.add(readLayer(layer));
        }
        ImageManifest manifest = new ImageManifest(
                json.text("variant", VARIANT),
                json.text("version", VERSION),
                readFile(json.object("firmware")),
                readFile(kernel),
                release,
                readFile(json.object("initrd")),
                json.text("cmdline"),
                layers,
                json.digest("identity", Digest.Algorithm.SHA384));
        json.requireNothingElse();
        manifest.requireConsistent();
        return manifest;
    }

    /** Reads every file completely; an empty list means that the image matches its identity. */
    public List<String> differences(Path folder) throws IOException {
        List<String> differences = new ArrayList<>();
        for (ImageFile file : files()) {
            file.difference(folder).ifPresent(differences::add);
        }
        return differences;
    }

    /** Returns every file of the image, in the order in which they are used. */
    public List<ImageFile> files() {
        return Stream.concat(
                        Stream.of(firmware, kernel, initrd), layers.stream().map(ImageLayer::file))
                .toList();
    }

    /**
     * Returns the SHA-384 over one line per part, so that {@code sha384sum} and {@code printf} can recompute it. Layers
     * are included through their root hashes on the command line.
     */
    static Digest identityOf(Digest firmware, Digest kernel, Digest initrd, String commandLine) {
        return Digest.sha384(FORMAT + "\n"
                + "firmware " + firmware + "\n"
                + "kernel " + kernel + "\n"
                + "initrd " + initrd + "\n"
                + "cmdline " + Digest.sha384(commandLine) + "\n");
    }

    private void requireConsistent() throws MalformedException {
        if (commandLine.length() > MAX_COMMAND_LINE
                || !COMMAND_LINE.matcher(commandLine).matches()) {
            throw new MalformedException("cmdline: want at most " + MAX_COMMAND_LINE
                    + " printable ASCII characters without quotes, single blanks between words, have "
                    + commandLine.length() + ": " + StrictJson.quoted(commandLine));
        }
        if (!layers.get(0).name().equals(BASE_LAYER)) {
            throw new MalformedException("layers[0].name: want " + BASE_LAYER + ", have \""
                    + layers.get(0).name() + "\"");
        }
        Set<String> names = new HashSet<>();
        for (ImageLayer layer : layers) {
            if (!names.add(layer.name())) {
                throw new MalformedException("layers: want every name once, have \"" + layer.name() + "\" twice");
            }
        }
        String named = Stream.of(commandLine.split(" ", -1))
                .filter(word -> word.startsWith(LAYER_WORD))
                .collect(Collectors.joining(" "));
        String expected = layers.stream().map(ImageLayer::commandLineWord).collect(Collectors.joining(" "));
        if (!named.equals(expected)) {
            throw new MalformedException(
                    "cmdline: want the layers' words \"" + expected + "\", have \"" + named + "\"");
        }
        Digest computed = identityOf(firmware.sha384(), kernel.sha384(), initrd.sha384(), commandLine);
        if (!computed.equals(identity)) {
            throw new MalformedException("identity: the parts give " + computed + ", the manifest says " + identity);
        }
    }

    private static ImageFile readFile(StrictJson json) throws MalformedException {
        ImageFile file = fileOf(json);
        json.requireNothingElse();
        return file;
    }

    private static ImageLayer readLayer(StrictJson json) throws MalformedException {
        try {
            ImageLayer layer = new ImageLayer(
                    json.text("name"),
                    fileOf(json),
                    json.number("dataBlocks", 1, ImageLayer.MAX_DATA_BLOCKS),
                    json.digest("rootHash", Digest.Algorithm.SHA256));
            json.requireNothingElse();
            return layer;
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    private static ImageFile fileOf(StrictJson json) throws MalformedException {
        try {
            return new ImageFile(
                    json.text("file"),
                    json.number("size", 0, MAX_FILE_BYTES),
                    json.digest("sha384", Digest.Algorithm.SHA384));
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }
}
