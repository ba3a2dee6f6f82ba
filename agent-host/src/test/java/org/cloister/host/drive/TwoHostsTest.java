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
class TwoHostsTest {
    @TempDir
    private Path folder;

    private Process start(int host, int firstEpoch, int count) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        TakerProgram.class.getName(),
                        folder.toString(),
                        Integer.toString(host),
                        Integer.toString(firstEpoch),
                        Integer.toString(count))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private Lease lease() throws IOException {
        return LockedDrive.read(Samples.DRIVE.lease(folder)).orElseThrow();
    }

    @Test
    void two_hosts_at_once_lose_no_epoch_and_leave_a_whole_lease() throws Exception {
        Samples.storage(folder);
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
        assertThat(lease().before()).isEmpty();
    }

    @Test
    void a_taker_that_is_killed_leaves_a_lease_that_another_can_take() throws Exception {
        Samples.storage(folder);
        int epoch = 1;
        for (int round = 0; round < 4; round++) {
            Process process = start(1, epoch, 4000);
            try (BufferedReader out = process.inputReader()) {
                for (int i = 0; i < 20 + 7 * round; i++) {
                    epoch = Integer.parseInt(out.readLine().substring("had ".length()));
                }
                process.toHandle().destroyForcibly();
                process.waitFor();
                Lease left = lease();
                assertThat(left.epoch()).isGreaterThanOrEqualTo(epoch);
                epoch = (int) left.epoch() + 1;
                Drives second = Samples.host(folder, 2);
                Holder holder = second.holder(epoch, Samples.opening(epoch));
                Clock clock = new Clock();
                assertThat(second.take(Samples.DRIVE, holder, Samples.MIB, clock))
                        .isTrue();
                assertThat(clock.pauses())
                        .isEqualTo(left.holder().isPresent() || !left.before().isEmpty() ? 60 : 0);
                second.letGo(Samples.DRIVE, holder);
                epoch++;
            }
        }
        assertThat(Files.size(Samples.host(folder, 2).image(Samples.DRIVE))).isEqualTo(Samples.MIB << 20);
    }
}
