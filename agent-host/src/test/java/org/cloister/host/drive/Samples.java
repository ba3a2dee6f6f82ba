package org.cloister.host.drive;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.cloister.host.ledger.Owners;

/** Storage, hosts and openings for tests. */
final class Samples {
    static final DriveName DRIVE = new DriveName(Owners.owner(0).project(), "main");
    static final Duration AGE = Duration.ofSeconds(60);
    static final int MIB = 4;

    private Samples() {}

    static Path storage(Path folder) throws Exception {
        Files.createFile(folder.resolve(Drives.MARK));
        return folder;
    }

    static Drives host(Path folder, int number) {
        return new Drives(folder, "h" + number + ".host.site.cloister.internal", AGE);
    }

    static String opening(int number) {
        return Owners.owner(number).ticket();
    }
}
