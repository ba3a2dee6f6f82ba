package org.cloister.vm.controller.drive;

import java.nio.file.Path;
import org.cloister.luks.volume.MappingName;
import org.cloister.luks.volume.VolumeFormat;

/**
 * Plan of a project's drive: device, format, mapping and mount point.
 *
 * @param device the disk
 * @param label names the project, in a drive that is created
 * @param mountPoint where the drive is mounted
 */
public record DrivePlan(Path device, VolumeFormat label, MappingName mapping, Path mountPoint) {
    /** The same in every controlling VM, which has one drive. */
    public static final MappingName MAPPING = new MappingName("cloister-drive");

    public static final Path MOUNT_POINT = Path.of("/project");
    /** Length of the project's part of the label, which has at most 47 characters. */
    private static final int PROJECT_LETTERS = 32;

    public static DrivePlan of(Path device, String project) {
        return new DrivePlan(
                device,
                VolumeFormat.labelled("project/" + project.substring(0, PROJECT_LETTERS)),
                MAPPING,
                MOUNT_POINT);
    }
}
