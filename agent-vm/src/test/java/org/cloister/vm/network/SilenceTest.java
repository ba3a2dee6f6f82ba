package org.cloister.vm.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.vm.machine.Programs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two machines with a cable, in namespaces. */
class SilenceTest {
    private static final int STORAGE = 2049;
    private static final int OTHER = 6817;
    private static final String FAR = "10.70.0.1";

    private final List<Process> started = new ArrayList<>();

    @AfterEach
    void end() {
        started.forEach(Process::destroyForcibly);
    }

    private Programs machine() throws IOException {
        Process space = new ProcessBuilder("unshare", "--net", "sleep", "60").start();
        started.add(space);
        Path own = Path.of("/proc", Long.toString(space.pid()), "ns/net");
        Path ours = Path.of("/proc/self/ns/net");
        while (Files.readSymbolicLink(own).equals(Files.readSymbolicLink(ours)) && space.isAlive()) {
            Thread.onSpinWait();
        }
        return Programs.behind(List.of("nsenter", "--net=" + own));
    }

    private Process start(Programs on, String... command) throws IOException {
        Process process = new ProcessBuilder(on.argv(List.of(command))).start();
        started.add(process);
        return process;
    }

    /** Ends when its client does. */
    private Process server(Programs on, int port) throws Exception {
        Process server = start(on, "socat", "-u", "TCP-LISTEN:" + port, "OPEN:/dev/null");
        while (on.succeed("ss", "-H", "-l", "-n", "-t", "sport", "=", ":" + port)
                .isEmpty()) {
            assertThat(server.isAlive()).isTrue();
            TimeUnit.MILLISECONDS.sleep(10);
        }
        return server;
    }

    private Process client(Programs on, int port) throws Exception {
        Process client = start(on, "socat", "-u", "PIPE", "TCP:" + FAR + ":" + port);
        while (on.succeed("ss", "-H", "-n", "-t", "state", "established", "dport", "=", ":" + port)
                .isEmpty()) {
            assertThat(client.isAlive()).isTrue();
            TimeUnit.MILLISECONDS.sleep(10);
        }
        return client;
    }

    @Test
    void nobody_but_the_storage_hears_that_a_program_has_ended() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root has namespaces of the network");
        Programs far = machine();
        Programs near = machine();
        far.succeed(
                "ip",
                "link",
                "add",
                "eth0",
                "type",
                "veth",
                "peer",
                "name",
                "eth0",
                "netns",
                Long.toString(started.get(1).pid()));
        far.succeed("ip", "address", "add", FAR + "/24", "dev", "eth0");
        near.succeed("ip", "address", "add", "10.70.0.2/24", "dev", "eth0");
        far.succeed("ip", "link", "set", "eth0", "up");
        near.succeed("ip", "link", "set", "eth0", "up");
        Process controller = server(far, OTHER);
        Process storage = server(far, STORAGE);
        List<Process> clients = List.of(client(near, OTHER), client(near, STORAGE));

        new Silence(STORAGE).begin(near);
        new Silence(STORAGE).begin(near);
        clients.forEach(Process::destroyForcibly);
        assertThat(storage.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(controller.waitFor(1, TimeUnit.SECONDS)).isFalse();
        // Nor is a machine that answers no more one that refuses.
        server(near, OTHER);
        assertThat(far.run("socat", "-u", "/dev/null", "TCP:10.70.0.2:" + OTHER + ",connect-timeout=1")
                        .complaint())
                .contains("timed out");
        assertThat(near.succeed("nft", "--stateless", "list", "table", "inet", Silence.NAME))
                .isEqualTo(new Silence(STORAGE).render());
    }
}
