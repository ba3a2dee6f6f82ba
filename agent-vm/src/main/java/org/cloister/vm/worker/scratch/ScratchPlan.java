package org.cloister.vm.worker.scratch;

import java.nio.file.Path;
import java.util.List;
import org.cloister.luks.volume.MappingName;
import org.cloister.luks.volume.VolumeFormat;

/**
 * Plan of a worker's scratch disk.
 *
 * @param device the disk; its content is lost
 * @param label owner of the volume, such as {@code worker/TICKET.SLOT}
 * @param mountPoint where jobs find it
 * @param temporary further folders that are placed on it
 */
public record ScratchPlan(Path device, VolumeFormat label, MappingName mapping, Path mountPoint, List<Path> temporary) {
    public ScratchPlan {
        temporary = List.copyOf(temporary);
    }

    public static ScratchPlan of(Path device, String label) {
        return new ScratchPlan(
                device,
                VolumeFormat.labelled(label),
                new MappingName("cloister-scratch"),
                Path.of("/scratch"),
                List.of(Path.of("/tmp"), Path.of("/var/tmp")));
    }
}
