package org.cloister.host.domain;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.cloister.protocol.image.ImageLayer;
import org.cloister.protocol.image.ImageManifest;

/**
 * Firmware, kernel, initrd and command line that the guest boots from. The four identify its image; nothing is added
 * for a VM.
 *
 * @param firmware loaded as a ROM, without variables; nothing is written back
 */
public record DirectKernelBoot(Path firmware, Path kernel, Path initrd, String commandLine) {
    /** Permitted characters; the rule for manifests is stricter. */
    private static final Pattern COMMAND_LINE = Pattern.compile("[ -~]{1,2047}");

    /** @throws IllegalArgumentException if a value does not have its form */
    public DirectKernelBoot {
        DomainPaths.require("firmware", firmware);
        DomainPaths.require("kernel", kernel);
        DomainPaths.require("initrd", initrd);
        if (!COMMAND_LINE.matcher(commandLine).matches()) {
            throw new IllegalArgumentException(
                    "command line: want 1 to 2047 printable ASCII characters, have " + commandLine.length());
        }
    }

    /**
     * Returns the boot files of an image.
     *
     * @param folder of the image's files, which were already verified against the manifest
     */
    public static DirectKernelBoot of(ImageManifest manifest, Path folder) {
        return new DirectKernelBoot(
                folder.resolve(manifest.firmware().name()),
                folder.resolve(manifest.kernel().name()),
                folder.resolve(manifest.initrd().name()),
                manifest.commandLine());
    }

    /** Returns the image's read-only disks, in the manifest's order. */
    public static List<DomainDisk> layers(ImageManifest manifest, Path folder) {
        List<DomainDisk> disks = new ArrayList<>();
        for (ImageLayer layer : manifest.layers()) {
            disks.add(new DomainDisk(folder.resolve(layer.file().name()), layer.serial(), DomainDisk.Use.LAYER));
        }
        return disks;
    }
}
