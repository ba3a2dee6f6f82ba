package org.cloister.host.drive;

import java.nio.file.Path;
import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;

/** A host that takes the drive by every second epoch and says of each that it had it alone; for tests that kill it. */
final class LeaseTakerProgram {
    private LeaseTakerProgram() {}

    /** Folder, number of the host, first epoch, how many. */
    public static void main(String[] args) throws Exception {
        SharedDrives host = DriveSamples.host(Path.of(args[0]), Integer.parseInt(args[1]));
        int first = Integer.parseInt(args[2]);
        for (int epoch = first; epoch < first + 2 * Integer.parseInt(args[3]); epoch += 2) {
            LeaseHolder holder = host.holder(epoch, DriveSamples.opening(epoch));
            try {
                host.acquire(DriveSamples.DRIVE, holder, DriveSamples.MIB, new ManualLeaseWait());
                System.out.println("had " + epoch);
            } catch (StartFailed e) {
                if (e.code() != VmRunCode.REFUSED) {
                    throw e;
                }
                System.out.println("not " + epoch);
            }
            host.release(DriveSamples.DRIVE, holder);
        }
    }
}
