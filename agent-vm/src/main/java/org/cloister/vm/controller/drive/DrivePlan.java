package org.cloister.vm.controller.drive;

import java.nio.file.Path;
import org.cloister.luks.volume.MappingName;
import org.cloister.luks.volume.VolumeFormat;

/**
 * What becomes of a project's drive.
 *
 * @param device the disk
 * @param label whose it is, of one that is made
 * @param mountPoint where it is mounted
 */
public record DrivePlan(Path device, VolumeFormat label, MappingName mapping, Path mountPoint) {
    /** Of every controlling VM: there is one drive. */
    public static final MappingName MAPPING = new MappingName("cloister-drive");

    public static final Path MOUNT_POINT = Path.of("/project");
    /** Of a label, of which 47 characters are taken. */
    private static final int PROJECT_LETTERS = 32;

    public static DrivePlan of(Path device, String project) {
        return new DrivePlan(
                device,
                VolumeFormat.labelled("project/" + project.substring(0, PROJECT_LETTERS)),
                MAPPING,
                MOUNT_POINT);
    }
}
