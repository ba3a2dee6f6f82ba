package org.cloister.vm.scratch;

import java.nio.file.Path;
import java.util.List;
import org.cloister.luks.volume.Format;
import org.cloister.luks.volume.MappingName;

/**
 * What becomes of a worker's scratch disk.
 *
 * @param device the disk; whatever it holds is lost
 * @param label whose it is, such as {@code worker/TICKET.SLOT}
 * @param at where jobs find it
 * @param temporary folders that lie on it besides
 */
public record ScratchPlan(Path device, Format label, MappingName mapping, Path at, List<Path> temporary) {
    public ScratchPlan {
        temporary = List.copyOf(temporary);
    }

    public static ScratchPlan of(Path device, String label) {
        return new ScratchPlan(
                device,
                Format.labelled(label),
                new MappingName("cloister-scratch"),
                Path.of("/scratch"),
                List.of(Path.of("/tmp"), Path.of("/var/tmp")));
    }
}
