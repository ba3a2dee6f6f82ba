package org.cloister.host.drive;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two processes as two hosts on one file system, and a real SIGKILL. */
@Timeout(120)
class DriveTwoHostsTest {
    @TempDir
    private Path folder;

    private Process start(int host, int firstEpoch, int count) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        LeaseTakerProgram.class.getName(),
                        folder.toString(),
                        Integer.toString(host),
                        Integer.toString(firstEpoch),
                        Integer.toString(count))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private DriveLease lease() throws IOException {
        return LockedDrive.read(DriveSamples.DRIVE.lease(folder)).orElseThrow();
    }

    @Test
    void two_hosts_at_once_lose_no_epoch_and_leave_a_whole_lease() throws Exception {
        DriveSamples.storage(folder);
        Process odd = start(1, 1, 300);
        Process even = start(2, 2, 300);
        long had = 0;
        for (Process each : new Process[] {odd, even}) {
            try (BufferedReader out = each.inputReader()) {
                had += out.lines().filter(line -> line.startsWith("had ")).count();
            }
            assertThat(each.waitFor()).isZero();
        }
        assertThat(had).isPositive();
        assertThat(lease().epoch()).isEqualTo(600);
        assertThat(lease().holder()).isEmpty();
        assertThat(lease().earlierHolders()).isEmpty();
    }

    @Test
    void a_taker_that_is_killed_leaves_a_lease_that_another_can_take() throws Exception {
        DriveSamples.storage(folder);
        int epoch = 1;
        for (int runPass = 0; runPass < 4; runPass++) {
            Process process = start(1, epoch, 4000);
            try (BufferedReader out = process.inputReader()) {
                for (int i = 0; i < 20 + 7 * runPass; i++) {
                    epoch = Integer.parseInt(out.readLine().substring("had ".length()));
                }
                process.toHandle().destroyForcibly();
                process.waitFor();
                DriveLease left = lease();
                assertThat(left.epoch()).isGreaterThanOrEqualTo(epoch);
                epoch = (int) left.epoch() + 1;
                SharedDrives second = DriveSamples.host(folder, 2);
                LeaseHolder holder = second.holder(epoch, DriveSamples.opening(epoch));
                ManualLeaseWait clock = new ManualLeaseWait();
                assertThat(second.acquire(DriveSamples.DRIVE, holder, DriveSamples.MIB, clock))
                        .isTrue();
                assertThat(clock.pauses())
                        .isEqualTo(
                                left.holder().isPresent()
                                                || !left.earlierHolders().isEmpty()
                                        ? 60
                                        : 0);
                second.release(DriveSamples.DRIVE, holder);
                epoch++;
            }
        }
        assertThat(Files.size(DriveSamples.host(folder, 2).image(DriveSamples.DRIVE)))
                .isEqualTo(DriveSamples.MIB << 20);
    }
}
