package org.cloister.host.plan;

import java.nio.file.Path;
import org.cloister.protocol.image.ImageManifest;

/**
 * Guest image whose files were verified against its manifest.
 *
 * @param folder of the manifest and its files
 */
public record GuestImage(ImageManifest manifest, Path folder) {}
