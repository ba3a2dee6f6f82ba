package org.cloister.lab;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.image.ImageManifest;

/**
 * Specification of a VM to start. The image's files are used in place; a scenario that needs a damaged one makes a
 * copy.
 *
 * @param image the folder of a built image, with its manifest
 * @param vlan the tag of its port on br-secure, if it has one
 * @param disks further raw disks, writable, in the order in which the guest sees them after the layers
 */
public record LabVmSpec(
        String name,
        Path image,
        ImageManifest manifest,
        int cpus,
        int memoryMib,
        Optional<Integer> vlan,
        List<Path> disks) {
    private static final int DEFAULT_MEMORY_MIB = 768;

    public LabVmSpec {
        disks = List.copyOf(disks);
    }

    public static LabVmSpec of(String name, Path image) throws IOException {
        return new LabVmSpec(
                name, image, ImageManifest.load(image), 1, DEFAULT_MEMORY_MIB, Optional.empty(), List.of());
    }

    public LabVmSpec withVlan(int tag) {
        return new LabVmSpec(name, image, manifest, cpus, memoryMib, Optional.of(tag), disks);
    }

    public LabVmSpec withShape(int newCpus, int newMemoryMib) {
        return new LabVmSpec(name, image, manifest, newCpus, newMemoryMib, vlan, disks);
    }

    public LabVmSpec withDisk(Path disk) {
        List<Path> more = new ArrayList<>(disks);
        more.add(disk);
        return new LabVmSpec(name, image, manifest, cpus, memoryMib, vlan, more);
    }

    /** Returns the name of its port on br-secure; an interface's name has at most 15 characters. */
    public String port() {
        return "cl-" + (name.length() > 12 ? name.substring(0, 12) : name);
    }
}
