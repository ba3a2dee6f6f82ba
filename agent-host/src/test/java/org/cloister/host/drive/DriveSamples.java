package org.cloister.host.drive;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.cloister.host.reconcile.ResourceOwners;

/** Storage, hosts and openings for tests. */
final class DriveSamples {
    static final DriveName DRIVE = new DriveName(ResourceOwners.owner(0).project(), "main");
    static final Duration AGE = Duration.ofSeconds(60);
    static final int MIB = 4;

    private DriveSamples() {}

    static Path storage(Path folder) throws Exception {
        Files.createFile(folder.resolve(SharedDrives.MARK));
        return folder;
    }

    static SharedDrives host(Path folder, int number) {
        return new SharedDrives(folder, "h" + number + ".host.site.cloister.internal", AGE);
    }

    static String opening(int number) {
        return ResourceOwners.owner(number).ticket();
    }
}
