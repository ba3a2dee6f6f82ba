package org.cloister.vm.system.volume;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.cloister.base.json.StrictJson;
import org.cloister.luks.volume.MappingName;
import org.cloister.luks.volume.VolumeMapping;
import org.cloister.vm.metrics.VmMetrics;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VolumeStatusFileTest {
    private static final VolumeMapping MAPPING = new VolumeMapping(
            new MappingName("cloister-scratch"), Path.of("/dev/vdb"), 1 << 30, "aes-xts-plain64", false, true);

    @TempDir
    private Path folder;

    private final VmMetrics metrics = new VmMetrics();
    private Instant now = Instant.parse("2026-11-21T10:00:00.5Z");
    private VolumeStatusFile volumes;
    private Path file;

    @BeforeEach
    void begin() {
        file = folder.resolve("run/agent-vm.volumes");
        volumes = new VolumeStatusFile(file, metrics, () -> now);
    }

    private List<String> said() throws Exception {
        StrictJson json = StrictJson.read(Files.readAllBytes(file), 4096);
        assertThat(json.number("v", 1, 1)).isEqualTo(1);
        List<String> reported = new ArrayList<>();
        for (VolumeName name : VolumeName.values()) {
            if (!json.has(name.toString())) {
                continue;
            }
            StrictJson each = json.object(name.toString());
            reported.add(name + " " + each.text("state") + " " + each.text("since"));
            assertThat(each.text("mapping")).isEqualTo("cloister-scratch");
            assertThat(each.text("at")).isEqualTo(folder.toString());
            assertThat(each.text("cipher")).isEqualTo("aes-xts-plain64");
            assertThat(each.number("bytes", 0, Long.MAX_VALUE)).isEqualTo(1 << 30);
        }
        return reported;
    }

    private double metric(String name) {
        String found = new String(metrics.text(), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith("cloister_vm_" + name + " "))
                .findFirst()
                .orElseThrow();
        return Double.parseDouble(found.substring(found.indexOf(' ')));
    }

    @Test
    void a_volume_is_open_and_as_full_as_it_is_and_then_erased() throws Exception {
        volumes.refresh();
        assertThat(said()).isEmpty();
        volumes.recordOpened(VolumeName.SCRATCH, MAPPING, folder);
        assertThat(said()).containsExactly("scratch open 2026-11-21T10:00:00Z");
        assertThat(Files.readString(file)).containsPattern("\"used\":[1-9]");
        assertThat(metric("scratch_size_bytes")).isEqualTo(1 << 30);
        assertThat(metric("scratch_used_bytes")).isPositive();
        assertThat(metric("drive_size_bytes")).isZero();
        volumes.recordErased(VolumeName.SCRATCH, now.plusSeconds(7));
        assertThat(said()).containsExactly("scratch erased 2026-11-21T10:00:07Z");
        assertThat(Files.readString(file)).doesNotContain("used");
        assertThat(metric("scratch_size_bytes")).isZero();
    }

    @Test
    void one_that_was_never_there_is_not_erased() throws Exception {
        volumes.refresh();
        volumes.recordClosed(VolumeName.DRIVE);
        volumes.recordNotErased(VolumeName.SCRATCH);
        assertThat(said()).isEmpty();
        volumes.recordOpened(VolumeName.SCRATCH, MAPPING, folder);
        now = now.plusSeconds(60);
        volumes.recordNotErased(VolumeName.SCRATCH);
        assertThat(said()).containsExactly("scratch left 2026-11-21T10:01:00Z");
    }

    @Test
    void everybody_may_read_it_and_a_folder_that_is_gone_ends_nothing() throws Exception {
        volumes.recordOpened(VolumeName.SCRATCH, MAPPING, folder.resolve("gone"));
        assertThat(Files.readString(file)).doesNotContain("used");
        assertThat(Files.getPosixFilePermissions(file)).hasSize(4);
    }
}
