package org.cloister.vm.system.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.base.process.ProcessRunner;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two machines with a cable, in namespaces. */
class OutboundTcpDropTableTest {
    private static final int STORAGE = 2049;
    private static final int OTHER = 6817;
    private static final String FAR = "10.70.0.1";

    private final List<Process> started = new ArrayList<>();

    @AfterEach
    void end() {
        started.forEach(Process::destroyForcibly);
    }

    private ProcessRunner machine() throws IOException {
        Process space = new ProcessBuilder("unshare", "--net", "sleep", "60").start();
        started.add(space);
        Path own = Path.of("/proc", Long.toString(space.pid()), "ns/net");
        Path ours = Path.of("/proc/self/ns/net");
        while (Files.readSymbolicLink(own).equals(Files.readSymbolicLink(ours)) && space.isAlive()) {
            Thread.onSpinWait();
        }
        return ProcessRunner.withPrefix(List.of("nsenter", "--net=" + own));
    }

    private Process start(ProcessRunner on, String... command) throws IOException {
        Process process = new ProcessBuilder(on.argv(List.of(command))).start();
        started.add(process);
        return process;
    }

    /** Ends when its client does. */
    private Process server(ProcessRunner on, int port) throws Exception {
        Process server = start(on, "socat", "-u", "TCP-LISTEN:" + port, "OPEN:/dev/null");
        while (on.runChecked("ss", "-H", "-l", "-n", "-t", "sport", "=", ":" + port)
                .isEmpty()) {
            assertThat(server.isAlive()).isTrue();
            TimeUnit.MILLISECONDS.sleep(10);
        }
        return server;
    }

    private Process client(ProcessRunner on, int port) throws Exception {
        Process client = start(on, "socat", "-u", "PIPE", "TCP:" + FAR + ":" + port);
        while (on.runChecked("ss", "-H", "-n", "-t", "state", "established", "dport", "=", ":" + port)
                .isEmpty()) {
            assertThat(client.isAlive()).isTrue();
            TimeUnit.MILLISECONDS.sleep(10);
        }
        return client;
    }

    @Test
    void nobody_but_the_storage_hears_that_a_program_has_ended() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root has namespaces of the network");
        ProcessRunner far = machine();
        ProcessRunner near = machine();
        far.runChecked(
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
        far.runChecked("ip", "address", "add", FAR + "/24", "dev", "eth0");
        near.runChecked("ip", "address", "add", "10.70.0.2/24", "dev", "eth0");
        far.runChecked("ip", "link", "set", "eth0", "up");
        near.runChecked("ip", "link", "set", "eth0", "up");
        Process controller = server(far, OTHER);
        Process storage = server(far, STORAGE);
        List<Process> clients = List.of(client(near, OTHER), client(near, STORAGE));

        new OutboundTcpDropTable(STORAGE).install(near);
        new OutboundTcpDropTable(STORAGE).install(near);
        clients.forEach(Process::destroyForcibly);
        assertThat(storage.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(controller.waitFor(1, TimeUnit.SECONDS)).isFalse();
        // Nor is a machine that answers no more one that refuses.
        server(near, OTHER);
        assertThat(far.run("socat", "-u", "/dev/null", "TCP:10.70.0.2:" + OTHER + ",connect-timeout=1")
                        .errorSummary())
                .contains("timed out");
        assertThat(near.runChecked("nft", "--stateless", "list", "table", "inet", OutboundTcpDropTable.NAME))
                .isEqualTo(new OutboundTcpDropTable(STORAGE).render());
    }
}
