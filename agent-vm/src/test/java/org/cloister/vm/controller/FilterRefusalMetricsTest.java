package org.cloister.vm.controller;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.cloister.vm.metrics.VmMetrics;
import org.cloister.vm.rpcfilter.FilterStateFile;
import org.cloister.vm.rpcfilter.RpcFilterMain;
import org.cloister.vm.rpcfilter.SlurmMessageType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Refusals of the filter's own program, which counts what a worker on loopback sends, as agent-vm's metrics have them. */
@Timeout(60)
@SuppressWarnings("NullAway") // set up before it is used
class FilterRefusalMetricsTest {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final String PREFIX = "cloister_vm_slurm_refused_";

    @TempDir
    private Path folder;

    private final VmMetrics metrics = new VmMetrics();
    private FilterStateFile state;
    private FilterRefusalMetrics refusals;
    /** This machine's own: the program's port is fixed. */
    private InetAddress own;

    private Process filter;

    private Path file() {
        Path file = folder.resolve("state");
        state = new FilterStateFile(file);
        refusals = new FilterRefusalMetrics(state, metrics);
        return file;
    }

    private void start(Path file) throws Exception {
        filter = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        RpcFilterMain.class.getName(),
                        own.getHostAddress() + "/8",
                        "22.05",
                        file.toString())
                .redirectError(new File(folder.toFile(), "log"))
                .start();
        await(() -> state.isRunning());
    }

    @AfterEach
    void stop() throws InterruptedException {
        if (filter != null) {
            filter.destroyForcibly().waitFor();
        }
    }

    private void await(Callable<Boolean> condition) throws Exception {
        while (!condition.call()) {
            assertThat(filter.isAlive()).as("the filter, %s", folder).isTrue();
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    private void send(SlurmMessageType type) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(18);
        bytes.putInt(14).putShort((short) (38 << 8)).putShort((short) 0).putShort((short) type.number());
        try (Socket worker = new Socket()) {
            worker.bind(new InetSocketAddress("127.0.0.3", 0));
            worker.connect(new InetSocketAddress(own, RpcFilterMain.PORT), 5_000);
            worker.setSoTimeout(10_000);
            worker.getOutputStream().write(bytes.array());
            assertThat(worker.getInputStream().read()).isEqualTo(-1);
        } catch (SocketException e) {
            assertThat(e).hasMessageContaining("reset");
        }
    }

    private void awaitCounts(Map<String, Long> counts) throws Exception {
        await(() -> state.readRefusals().equals(Optional.of(counts)));
    }

    private Map<String, String> counted() {
        return new String(metrics.text(), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith(PREFIX))
                .map(line -> line.substring(PREFIX.length()).split(" ", 2))
                .collect(Collectors.toMap(each -> each[0], each -> each[1]));
    }

    @Test
    void each_refusal_is_added_once_and_so_are_those_of_a_filter_that_was_started_again() throws Exception {
        own = InetAddress.getByAddress(new byte[] {
            127, (byte) RANDOM.nextInt(1, 256), (byte) RANDOM.nextInt(256), (byte) RANDOM.nextInt(1, 255)
        });
        Path file = Files.createFile(file());
        start(file);
        send(SlurmMessageType.REQUEST_TRIGGER_SET);
        send(SlurmMessageType.REQUEST_TRIGGER_SET);
        send(SlurmMessageType.REQUEST_SHUTDOWN);
        awaitCounts(Map.of("request_trigger_set", 2L, "request_shutdown", 1L));
        refusals.update();
        refusals.update();
        assertThat(counted()).isEqualTo(Map.of("request_trigger_set_total", "2.0", "request_shutdown_total", "1.0"));
        send(SlurmMessageType.REQUEST_TRIGGER_SET);
        awaitCounts(Map.of("request_trigger_set", 3L, "request_shutdown", 1L));
        refusals.update();
        assertThat(counted()).containsEntry("request_trigger_set_total", "3.0");
        filter.destroyForcibly().waitFor();
        refusals.update();
        start(file);
        send(SlurmMessageType.REQUEST_TRIGGER_SET);
        awaitCounts(Map.of("request_trigger_set", 1L));
        refusals.update();
        assertThat(counted()).isEqualTo(Map.of("request_trigger_set_total", "4.0", "request_shutdown_total", "1.0"));
    }

    @Test
    void a_file_that_is_missing_half_written_or_of_other_names_adds_nothing() throws IOException {
        Path file = file();
        refusals.update();
        Files.writeString(file, "request_shutdown 7\n");
        refusals.update();
        assertThat(counted()).isEmpty();
        Files.writeString(file, "forged 9\nrequest_shutdown 7\nend\n");
        refusals.update();
        assertThat(counted()).isEqualTo(Map.of("request_shutdown_total", "7.0"));
        Files.writeString(file, "request_shutdown 8\n");
        refusals.update();
        Files.delete(file);
        refusals.update();
        Files.writeString(file, "request_shutdown 8\nend\n");
        refusals.update();
        assertThat(counted()).isEqualTo(Map.of("request_shutdown_total", "8.0"));
    }
}
