package org.cloister.vm.controller.drive;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.vm.system.volume.DisksBySerial;

/** The disk that the project's drive is on. */
public final class DriveDisk {
    /** As hosts give it to a controlling VM. */
    private static final String SERIAL = "drive";

    private DriveDisk() {}

    /**
     * @return its device in {@code /dev}
     * @throws DriveOpenRefused if there is none
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
