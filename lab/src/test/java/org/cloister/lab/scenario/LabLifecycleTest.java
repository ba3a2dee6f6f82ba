package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.cloister.lab.Lab;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.lab.ProgressLog;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Labs come and go, side by side, and leave nothing, however they end. */
@Tag("scenario")
@Tag("ground")
@RotatedScenario(9)
class LabLifecycleTest {
    private final LabHome home = LabHome.fromEnvironment();
    private final LabName name = new LabName("life-" + ProcessHandle.current().pid());
    private final ProgressLog quiet =
            new ProgressLog(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8));

    @AfterEach
    void remove() throws IOException {
        Lab.remove(home, name);
    }

    @Test
    @ExtendWith(SharedLab.class)
    void runs_beside_another_one(Lab other) throws IOException {
        Lab lab = Lab.up(home, name, quiet);
        assertThat(lab.slurm()
                        .client("srun", "--nodes=2", "--label", "hostname")
                        .lines())
                .containsExactlyInAnyOrder("0: h1", "1: h2");
        assertThat(other.slurm().idleNodes()).isEqualTo(2);
        Lab.remove(home, name);
        assertThat(other.slurm().idleNodes()).isEqualTo(2);
    }

    @Test
    void leaves_nothing_when_it_goes_down() throws IOException {
        List<String> before = traces();
        Lab.up(home, name, quiet);
        assertThat(traces()).isNotEqualTo(before);
        Lab.remove(home, name);
        assertThat(traces()).isEqualTo(before);
        assertThat(home.folder(name)).doesNotExist();
    }

    @Test
    void leaves_nothing_when_its_start_is_killed_half_way() throws Exception {
        List<String> before = traces();
        for (int step = 1; step <= 4; step++) {
            Process up = new ProcessBuilder(
                            "java",
                            "-cp",
                            System.getProperty("java.class.path"),
                            "org.cloister.lab.LabMain",
                            "up",
                            "--lab",
                            name.text())
                    .redirectErrorStream(true)
                    .start();
            try (var output = up.inputReader()) {
                for (int line = 0; line <= step; line++) {
                    output.readLine();
                }
                up.destroyForcibly().waitFor();
            }
            Lab.remove(home, name);
            assertThat(traces()).as("killed after step %d", step).isEqualTo(before);
        }
    }

    @Test
    void is_not_started_over_one_that_is_up_nor_used_when_of_another_version() throws IOException {
        Lab.up(home, name, quiet);
        assertThatThrownBy(() -> Lab.up(home, name, quiet))
                .isInstanceOf(LabException.class)
                .hasMessageContaining("there is one already");
        assertThat(Lab.attach(home, name).slurm().idleNodes()).isEqualTo(2);

        Files.writeString(home.folder(name).resolve("version"), "0\n");
        assertThatThrownBy(() -> Lab.attach(home, name))
                .isInstanceOf(LabException.class)
                .hasMessageContaining("made by version 0 of the lab, this is version");
    }

    /** What a lab could leave on the machine: processes, mounts, links, namespaces' names, control groups. */
    private List<String> traces() throws IOException {
        List<String> processes = LabCommand.of("ps", "-e", "-o", "args=")
                .succeed()
                .lines()
                .filter(line -> line.contains(name.text()) && !line.contains("java "))
                .toList();
        List<String> mounts = Files.readAllLines(Path.of("/proc/mounts"));
        List<String> links = LabCommand.of("ip", "-brief", "link")
                .succeed()
                .lines()
                .map(line -> line.split(" ", 2)[0])
                .toList();
        List<String> spaces =
                LabCommand.of("ip", "netns", "list").succeed().lines().toList();
        List<String> groups = LabCommand.of("find", "/sys/fs/cgroup", "-maxdepth", "4", "-type", "d")
                .succeed()
                .lines()
                .sorted()
                .toList();
        return Stream.of(processes, mounts, links, spaces, groups)
                .flatMap(List::stream)
                .toList();
    }
}
