package org.cloister.protocol.image;

import java.util.regex.Pattern;
import org.cloister.base.encoding.Digest;

/**
 * Read-only layer of a guest image: a squashfs padded to whole blocks, followed by its dm-verity hash tree. The lowest
 * layer is {@code base}; the guest stacks the others over it in the manifest's order.
 *
 * @param name the guest finds the disk by its virtio serial, {@code layer-NAME}
 * @param dataBlocks blocks of 4,096 bytes before the hash tree
 * @param rootHash dm-verity's, SHA-256, without salt
 */
public record ImageLayer(String name, ImageFile file, long dataBlocks, Digest rootHash) {
    public static final int BLOCK_BYTES = 4096;
    /** 16 TiB: dm-verity permits more, but no image is that large. */
    static final long MAX_DATA_BLOCKS = 1L << 32;

    /** A virtio serial has 20 bytes, of which "layer-" takes six. */
    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9-]{0,13}");

    public ImageLayer {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("layer name \"" + name + "\": want " + NAME.pattern());
        }
    }

    /** Returns the virtio disk serial by which the guest finds the layer. */
    public String serial() {
        return "layer-" + name;
    }

    /** Returns the layer's word on the kernel's command line, which makes its digest part of the image identity. */
    public String commandLineWord() {
        return "cloister.layer=" + name + "," + dataBlocks + "," + rootHash.hex();
    }
}
