package org.cloister.host.drive;

import java.nio.file.Path;

/** A host that takes the drive by every second epoch and says of each that it had it alone; for tests that kill it. */
final class TakerProgram {
    private TakerProgram() {}

    /** Folder, number of the host, first epoch, how many. */
    public static void main(String[] args) throws Exception {
        Drives host = Samples.host(Path.of(args[0]), Integer.parseInt(args[1]));
        int first = Integer.parseInt(args[2]);
        for (int epoch = first; epoch < first + 2 * Integer.parseInt(args[3]); epoch += 2) {
            Holder holder = host.holder(epoch, Samples.opening(epoch));
            try {
                host.take(Samples.DRIVE, holder, Samples.MIB, new Clock());
                System.out.println("had " + epoch);
            } catch (DriveRefused e) {
                System.out.println("not " + epoch);
            }
            host.letGo(Samples.DRIVE, holder);
        }
    }
}
