package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabVm;
import org.cloister.lab.LabVmSpec;
import org.cloister.lab.Poll;
import org.cloister.lab.host.ChannelHost;
import org.cloister.lab.relay.ChildProcess;
import org.cloister.lab.relay.RelaySiteFiles;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** The agent that is in the image: comes up by itself, attaches to its host again and again, and has other keys each time. */
@Tag("scenario")
@Tag("host")
@ExtendWith(SharedLab.class)
class AgentVmTest {
    /** Java begins in a guest under emulation within that time, whatever else the machine does. */
    private static final Duration LIMIT = Duration.ofMinutes(4);

    private static final String UNIT = "agent-vm.service";
    private static final String STATUS = "/run/cloister/agent-vm.status";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    @SuppressWarnings("try") // the relay is there to be used by others
    void comes_up_by_itself_and_attaches_anew_after_it_or_its_host_was_killed(Lab lab) throws Exception {
        Path image = LabHome.fromEnvironment().image("lab");
        RelaySiteFiles site = RelaySiteFiles.create(folder, 0);
        int port = ChildProcess.port();
        try (ChildProcess relay = ChildProcess.relay(folder, site.relayConfig(port), port);
                LabVm vm = lab.host(1).boot(LabVmSpec.of("agent", image))) {
            site.deliver();
            ChildProcess host = ChannelHost.start(port, vm.agentSocket(), folder);
            try {
                vm.awaitRunner();
                Map<String, String> first = await(vm, "attached", status -> true);
                report(vm, first);
                requireQuiet(vm);

                vm.succeed("systemctl", "kill", "--signal=KILL", UNIT);
                Map<String, String> second =
                        await(vm, "attached", status -> !Objects.equals(status.get("signing"), first.get("signing")));
                assertThat(second.get("sealing")).isNotEqualTo(first.get("sealing"));

                host.kill();
                await(vm, "lost", status -> true);
                host = ChannelHost.start(port, vm.agentSocket(), folder);
                Map<String, String> third = await(vm, "attached", status -> true);
                assertThat(third).containsEntry("signing", second.get("signing"));
                assertThat(third).containsEntry("sealing", second.get("sealing"));

                vm.succeed("systemctl", "stop", UNIT);
                assertThat(property(vm, "Result")).isEqualTo("success");
            } finally {
                host.close();
            }
        }
    }

    /** Without an assignment nothing listens and nothing has an address; and the archive of classes is the image's. */
    private static void requireQuiet(LabVm vm) throws IOException {
        assertThat(property(vm, "ActiveState")).isEqualTo("active");
        assertThat(vm.succeed("ss", "-H", "-l", "-n", "-t", "-u")).isBlank();
        assertThat(vm.succeed("ip", "-o", "address", "show", "scope", "global")).isBlank();
        assertThat(vm.succeed("journalctl", "-u", UNIT, "-o", "cat"))
                .contains("the host has no assignment for this VM")
                .doesNotContain("WARNING", "Exception");
        // What it mounts is there for slurmd, nfsd and MariaDB, too.
        assertThat(vm.succeed("readlink", "/proc/" + property(vm, "MainPID") + "/ns/mnt"))
                .isEqualTo(vm.succeed("readlink", "/proc/1/ns/mnt"));
        assertThat(vm.succeed("cat", "/proc/" + property(vm, "MainPID") + "/maps"))
                .contains("/var/cache/cloister/agent-vm.jsa", "/usr/lib/cloister/agent-vm/");
    }

    private static void report(LabVm vm, Map<String, String> status) throws IOException {
        System.out.println("agent-vm, seconds from the kernel's start and from its own: started "
                + status.get("started") + ", keys " + status.get("keys") + ", attached " + status.get("attached"));
        vm.succeed("cat", "/proc/" + property(vm, "MainPID") + "/status")
                .lines()
                .filter(line -> line.matches("(VmRSS|RssAnon|Threads):.*"))
                .forEach(System.out::println);
        System.out.println(vm.succeed("sh", "-c", "systemd-analyze --no-pager 2>&1 || true; uptime"));
    }

    private static Map<String, String> await(LabVm vm, String phase, Predicate<Map<String, String>> also)
            throws IOException {
        Poll.until(
                "agent-vm " + phase + ", have\n" + vm.run("cat", STATUS).out(),
                LIMIT,
                "read " + vm.consoleFile(),
                Duration.ofMillis(500),
                () -> {
                    Map<String, String> status = status(vm);
                    return phase.equals(status.get("phase")) && also.test(status);
                });
        return status(vm);
    }

    private static Map<String, String> status(LabVm vm) throws IOException {
        return vm.run("cat", STATUS)
                .out()
                .lines()
                .map(line -> line.split(" ", 2))
                .collect(Collectors.toMap(words -> words[0], words -> words[1]));
    }

    private static String property(LabVm vm, String name) throws IOException {
        return vm.succeed("systemctl", "show", "--value", "-p", name, UNIT).strip();
    }
}
