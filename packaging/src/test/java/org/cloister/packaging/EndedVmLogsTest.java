package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@code agent-host-logs} in folders that stand for libvirt's. */
@Tag("ground")
class EndedVmLogsTest {
    private static final String VM = "cloister-abcdefgh234567ab-";
    private static final Duration NEW = Duration.ofDays(13);
    private static final Duration OLD = Duration.ofDays(15);

    @TempDir
    Path folder = Path.of("");

    private Path logs = Path.of("");
    private Path pids = Path.of("");

    @BeforeEach
    void folders() throws IOException {
        logs = Files.createDirectory(folder.resolve("logs"));
        pids = Files.createDirectory(folder.resolve("pids"));
        Files.writeString(folder.resolve("root.conf"), "# as shipped\n#pids /run/libvirt/qemu\npids " + pids + "\n");
    }

    @Test
    void old_logs_of_ended_vms_go_and_no_other_file() throws IOException, InterruptedException {
        log(VM + "0.log", OLD);
        log(VM + "0.log.0", OLD);
        log(VM + "0.log-20261101.gz", OLD);
        log(VM + "1.log", NEW);
        log(VM + "2.log", OLD);
        log(VM + "2.log.1", OLD);
        Files.writeString(pids.resolve(VM + "2.pid"), "4711");
        log("web.log", OLD);
        log("cloister-of-somebody.log", OLD);
        Files.createDirectory(logs.resolve(VM + "3.log"));
        assertThat(remaining())
                .containsExactlyInAnyOrder(
                        VM + "1.log",
                        VM + "2.log",
                        VM + "2.log.1",
                        VM + "3.log",
                        "web.log",
                        "cloister-of-somebody.log");
    }

    @Test
    void more_than_4096_new_logs_lose_the_oldest() throws IOException, InterruptedException {
        for (int slot = 0; slot < 4100; slot++) {
            log(VM + slot + ".log", Duration.ofMinutes(slot));
        }
        Files.writeString(pids.resolve(VM + "4099.pid"), "4711");
        assertThat(remaining())
                .hasSize(4097)
                .contains(VM + "4095.log", VM + "4099.log")
                .doesNotContain(VM + "4096.log", VM + "4098.log");
    }

    @Test
    void a_host_without_libvirts_folder_is_no_failure() throws IOException, InterruptedException {
        Files.delete(logs);
        assertThat(run()).isEmpty();
    }

    @Test
    void all_logs_stay_while_nobody_knows_which_vms_run() throws IOException, InterruptedException {
        log(VM + "0.log", OLD);
        Files.delete(pids);
        assertThat(remaining()).containsExactly(VM + "0.log");
    }

    private void log(String name, Duration age) throws IOException {
        Path file = Files.writeString(logs.resolve(name), "starting up\n");
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(age)));
    }

    private List<String> remaining() throws IOException, InterruptedException {
        assertThat(run()).isEmpty();
        try (Stream<Path> files = Files.list(logs)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    private String run() throws IOException, InterruptedException {
        return PackagingCommand.of(
                        BuiltPackages.ROOT
                                .resolve("packaging/src/agent-host/agent-host-logs")
                                .toString(),
                        logs.toString(),
                        folder.resolve("root.conf").toString())
                .text();
    }
}
