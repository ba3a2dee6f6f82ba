package org.cloister.vm.controller.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.cloister.daemon.InvalidConfigException;
import org.cloister.protocol.ticket.MemoryReserves;
import org.cloister.vm.controller.jobsubmit.SubmitPluginData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ControllerConfigTest {
    private static final Path SAMPLE =
            Path.of(System.getProperty("cloister.root"), "agent-vm/src/main/config/controller.toml");

    @TempDir
    private Path folder;

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("controller.toml"), text);
    }

    private List<String> problems(String text) throws IOException {
        Path file = file(text);
        return catchThrowableOfType(InvalidConfigException.class, () -> ControllerConfig.load(file)).problems().stream()
                .map(each -> each.replace(file.toString(), "F"))
                .toList();
    }

    /** The sample's lines, taken as they are and without their comment signs, are the defaults. */
    @Test
    void the_sample_shows_every_key_with_its_default() throws IOException {
        String sample = Files.readString(SAMPLE);
        ControllerConfig asIs = ControllerConfig.load(file(sample));
        ControllerConfig opened = ControllerConfig.load(file(Pattern.compile("^#([a-z-]+ = )", Pattern.MULTILINE)
                .matcher(sample)
                .replaceAll("$1")));
        assertThat(opened.settings()).isEqualTo(asIs.settings());
        assertThat(asIs.settings().shapes()).containsExactly(new HostShape(16, 64, 240_000, 800_000));
        assertThat(opened.state()).isEqualTo(asIs.state());
        assertThat(opened.run()).isEqualTo(asIs.run());
        assertThat(opened.members()).isEqualTo(asIs.members());
        assertThat(opened.homes()).isEqualTo(asIs.homes());
        assertThat(opened.slurm().cluster()).isEqualTo(asIs.slurm().cluster());
        assertThat(opened.slurm().accounting()).isEqualTo(asIs.slurm().accounting());
        assertThat(opened.project().memoryPerCpuMib()).isEqualTo(asIs.project().memoryPerCpuMib());
        assertThat(opened.slurm().commandTimeout()).isEqualTo(asIs.slurm().commandTimeout());
        assertThat(asIs.slurm().programs()).isEmpty();
        assertThat(asIs.slurm().configuration()).isEmpty();
        assertThat(opened.slurm().programs()).contains(Path.of("/usr/bin"));
        assertThat(opened.slurm().configuration()).contains(Path.of("/etc/slurm/slurm.conf"));
    }

    @Test
    void slurm_and_its_plugin_are_told_what_tickets_are_asked_with() throws IOException {
        ControllerConfig config = ControllerConfig.load(file("""
                run = "/run/x"
                [queue]
                features = ["fast"]
                longest = 7200
                [slurm]
                memory-per-cpu = 77
                [[shape]]
                hosts = 3
                cpus = 4
                memory-mib = 500
                """));
        assertThat(config.settings().maxJobTime()).isEqualTo(Duration.ofHours(2));
        assertThat(config.localSlurmConf("head", "10.0.0.1", Path.of("/state"), Path.of("/hooks"))
                        .text())
                .contains(
                        "ClusterName=project\n",
                        "DefMemPerCPU=77\n",
                        " MaxTime=120 ",
                        "[0001-0003] CPUs=4 RealMemory=500 ");
        assertThat(config.submitPluginData(9))
                .isEqualTo(new SubmitPluginData(
                        9, Path.of("/run/x/bell"), List.of("fast"), List.of(new HostShape(3, 4, 500, 0)), 77));
    }

    @Test
    void a_job_that_says_no_memory_has_to_fit_somewhere() throws IOException {
        assertThat(problems("""
                [slurm]
                memory-per-cpu = 501
                [[shape]]
                hosts = 1
                cpus = 1
                memory-mib = 500
                """))
                .containsExactly(
                        "F:2: slurm.memory-per-cpu: want at most 500, the memory-mib of the largest shape, have 501");
    }

    @Test
    void the_sample_names_every_key_that_is_known() throws IOException {
        String known = problems("[[shape]]\nhosts = 1\ncpus = 1\nmemory-mib = 1\nnone = 1\n[x]\ny = 1\n").stream()
                .filter(each -> each.contains("unknown key"))
                .reduce("", (all, each) -> all + ", " + each.substring(each.indexOf("known: ") + 7));
        String sample = Files.readString(SAMPLE);
        assertThat(known.split(", ", -1))
                .hasSizeGreaterThan(15)
                .filteredOn(key -> !key.isEmpty())
                .allSatisfy(key -> assertThat(sample)
                        .containsPattern("(?m)^#?" + Pattern.quote(key.substring(key.indexOf('.') + 1)) + " = |^\\[\\["
                                + Pattern.quote(key) + "]]"));
    }

    @Test
    void all_problems_come_at_once_with_their_lines() throws IOException {
        assertThat(problems("""
                run = "run"
                [queue]
                tickets = 0
                features = ["gpu", "unplaced", "a b", "gpu"]
                longest = 59
                [slurm]
                cluster = "My Project"
                accounting = "-h"
                [[shape]]
                hosts = 1
                cpus = 4097
                [[shape]]
                hosts = 0
                cpus = 1
                memory-mib = 2048
                gpus = 1
                """))
                .containsExactly(
                        "F:1: run: want an absolute path, have \"run\"",
                        "F:3: queue.tickets: want 1 to 4096, have 0",
                        "F:4: queue.features: want names of up to 64 letters, digits, dots, dashes, have a b",
                        "F:4: queue.features: want each once, have \"gpu\" twice",
                        "F:4: queue.features: want no \"unplaced\": waiting jobs have it",
                        "F:5: queue.longest: want 60 to 31622400, have 59",
                        "F:7: slurm.cluster: want a name of up to 40 lower-case letters, digits, dashes, have \"My Project\"",
                        "F:8: slurm.accounting: want a machine's name or address, have \"-h\"",
                        "F:9: shape[0].memory-mib: missing",
                        "F:11: shape[0].cpus: want 1 to 4096, have 4097",
                        "F:13: shape[1].hosts: want 1 to 9999, have 0",
                        "F:16: shape[1].gpus: unknown key; known: hosts, cpus, memory-mib, scratch-mib");
    }

    @Test
    void a_project_says_its_queue_and_nothing_of_the_machine_and_the_machine_the_rest() throws IOException {
        Path name = Path.of("controller.toml");
        String queue =
                "[queue]\ntickets = 3\n[slurm]\nmemory-per-cpu = 77\n[memory]\nqemu-mib = 448\n[[shape]]\nhosts = 3\ncpus = 4\nmemory-mib = 500\n";
        ProjectSettings settings = ProjectSettings.read(name, queue.getBytes(StandardCharsets.UTF_8));
        assertThat(settings.queue().maxTickets()).isEqualTo(3);
        assertThat(settings.memoryPerCpuMib()).isEqualTo(77);
        assertThat(settings.reserves()).isEqualTo(MemoryReserves.defaults(true));
        String machine = "[slurm]\nprograms = \"/opt/slurm\"\nlimit = 7\n";
        MachineSettings fixed = MachineSettings.load(file(machine));
        assertThat(fixed.slurm().programs()).contains(Path.of("/opt/slurm"));
        assertThat(MachineSettings.load(Path.of("/none/controller.toml"))).isEqualTo(MachineSettings.load(file("")));
        ControllerConfig whole = ControllerConfig.load(file(machine
                + queue.replace("[slurm]\n", "")
                        .replace("memory-per-cpu = 77\n", "")
                        .replace("[queue]", "memory-per-cpu = 77\n[queue]")));
        assertThat(whole.project()).isEqualTo(settings);
        assertThat(whole.machineSettings()).isEqualTo(fixed);

        assertThat(catchThrowableOfType(
                                InvalidConfigException.class,
                                () -> ProjectSettings.read(
                                        name, (machine + "[queue]\ntickets = 0\n").getBytes(StandardCharsets.UTF_8)))
                        .problems())
                .hasSize(4)
                .anySatisfy(each -> assertThat(each).startsWith("controller.toml:2: slurm.programs: unknown key"))
                .anySatisfy(each -> assertThat(each).startsWith("controller.toml:5: queue.tickets: want 1 to 4096"));
        assertThat(catchThrowableOfType(InvalidConfigException.class, () -> MachineSettings.load(file(queue)))
                        .problems())
                .anySatisfy(each -> assertThat(each).contains("queue.tickets: unknown key"));
    }

    @Test
    void no_shape_is_larger_than_what_a_ticket_can_ask_for() throws IOException {
        assertThat(problems("[[shape]]\nhosts = 1\ncpus = 1\nmemory-mib = 16777000\n"))
                .singleElement()
                .asString()
                .startsWith("F:1: shape: memory-mib: memory: want 1 MiB to what makes a step of 16777216 MiB");
        assertThat(problems("[[shape]]\nhosts = 1\ncpus = 1\nmemory-mib = 1024\nscratch-mib = 16777000\n"))
                .singleElement()
                .asString()
                .startsWith("F:1: shape: scratch-mib: scratch: want a disk of at most 16777216 MiB");
    }

    @Test
    void a_site_without_hosts_is_a_problem() throws IOException {
        assertThat(problems("")).containsExactly("F:1: shape: want at least one table [[shape]], have none");
    }

    @Test
    void bell_and_statuses_lie_in_the_folder_on_tmpfs() throws IOException {
        ControllerConfig config = ControllerConfig.load(file("""
                run = "/run/other"
                [[shape]]
                hosts = 1
                cpus = 2
                memory-mib = 8000
                """));
        assertThat(config.notifyFile()).isEqualTo(Path.of("/run/other/bell"));
        assertThat(config.statusFolder()).isEqualTo(Path.of("/run/other/jobs"));
        assertThat(config.settings().shapes()).containsExactly(new HostShape(1, 2, 8000, 0));
    }

    @Test
    void more_hosts_in_all_than_the_block_has_names_are_refused() throws IOException {
        String shape = "[[shape]]\nhosts = 5000\ncpus = 1\nmemory-mib = 2000\n";
        assertThat(problems(shape + shape)).containsExactly("F:1: shape: want at most 9999 hosts in all, have 10000");
    }
}
