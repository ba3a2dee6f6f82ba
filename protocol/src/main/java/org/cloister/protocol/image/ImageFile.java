package org.cloister.protocol.image;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.base.encoding.Digest;

/**
 * File of a guest image, as its manifest describes it.
 *
 * @param name relative to the manifest, without a folder
 * @param size in bytes
 */
public record ImageFile(String name, long size, Digest sha384) {
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9._-]{0,63}");

    public ImageFile {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("file name \"" + name + "\": want " + NAME.pattern());
        }
    }

    /** Reads the whole file in {@code folder} and describes how it differs from the manifest; empty if it does not. */
    public Optional<String> difference(Path folder) throws IOException {
        Path file = folder.resolve(name);
        if (!Files.isRegularFile(file)) {
            return Optional.of(file + ": missing");
        }
        long actualSize = Files.size(file);
        if (actualSize != size) {
            return Optional.of(file + ": manifest says " + size + " bytes, file has " + actualSize);
        }
        Digest actual = Digest.sha384(file);
        if (!actual.equals(sha384)) {
            return Optional.of(file + ": manifest says SHA-384 " + sha384 + ", file has " + actual);
        }
        return Optional.empty();
    }
}
