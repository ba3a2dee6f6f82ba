package org.cloister.vm.worker.scratch;

import java.nio.file.Path;
import java.util.List;
import org.cloister.luks.volume.MappingName;
import org.cloister.luks.volume.VolumeFormat;

/**
 * What becomes of a worker's scratch disk.
 *
 * @param device the disk; whatever it holds is lost
 * @param label whose it is, such as {@code worker/TICKET.SLOT}
 * @param mountPoint where jobs find it
 * @param temporary folders that lie on it besides
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
