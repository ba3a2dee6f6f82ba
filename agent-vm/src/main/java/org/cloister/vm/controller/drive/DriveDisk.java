package org.cloister.vm.controller.drive;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.vm.system.volume.DisksBySerial;

/** Finds the disk that holds the project's drive. */
public final class DriveDisk {
    /** Serial number that hosts give the disk in a controlling VM. */
    private static final String SERIAL = "drive";

    private DriveDisk() {}

    /**
     * Returns the drive's disk.
     *
     * @return its device in {@code /dev}
     * @throws DriveOpenRefused if the disk is absent
     * @throws IOException if there are two
     */
    public static Path find(DisksBySerial disks) throws IOException {
        return disks.find(SERIAL)
                .orElseThrow(() -> new DriveOpenRefused(
                        DriveOpenRefused.Reason.NO_DISK,
                        "disk with serial " + SERIAL,
                        "one",
                        "none",
                        "look at the host's plan of this VM"));
    }
}
