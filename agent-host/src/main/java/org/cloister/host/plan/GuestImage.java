package org.cloister.host.plan;

import java.nio.file.Path;
import org.cloister.protocol.image.ImageManifest;

/**
 * An image whose files are those of its manifest.
 *
 * @param folder of the manifest and its files
 */
public record GuestImage(ImageManifest manifest, Path folder) {}
