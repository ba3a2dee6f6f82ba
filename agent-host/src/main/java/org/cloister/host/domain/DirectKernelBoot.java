package org.cloister.host.domain;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.cloister.protocol.image.ImageLayer;
import org.cloister.protocol.image.ImageManifest;

/**
 * What the guest starts from. The four are its image's identity; nothing is added for a VM.
 *
 * @param firmware as a ROM: no variables, nothing is written back
 */
public record DirectKernelBoot(Path firmware, Path kernel, Path initrd, String commandLine) {
    /** A manifest's own rule is narrower. */
    private static final Pattern COMMAND_LINE = Pattern.compile("[ -~]{1,2047}");

    /** @throws IllegalArgumentException if a value is not of its form */
    public DirectKernelBoot {
        DomainPaths.require("firmware", firmware);
        DomainPaths.require("kernel", kernel);
        DomainPaths.require("initrd", initrd);
        if (!COMMAND_LINE.matcher(commandLine).matches()) {
            throw new IllegalArgumentException(
                    "command line: want 1 to 2047 printable ASCII characters, have " + commandLine.length());
        }
    }

    /** @param folder where the image's files lie; that they are those of the manifest was checked before */
    public static DirectKernelBoot of(ImageManifest manifest, Path folder) {
        return new DirectKernelBoot(
                folder.resolve(manifest.firmware().name()),
                folder.resolve(manifest.kernel().name()),
                folder.resolve(manifest.initrd().name()),
                manifest.commandLine());
    }

    /** The image's read-only disks, in the manifest's order. */
    public static List<DomainDisk> layers(ImageManifest manifest, Path folder) {
        List<DomainDisk> disks = new ArrayList<>();
        for (ImageLayer layer : manifest.layers()) {
            disks.add(new DomainDisk(folder.resolve(layer.file().name()), layer.serial(), DomainDisk.Use.LAYER));
        }
        return disks;
    }
}
