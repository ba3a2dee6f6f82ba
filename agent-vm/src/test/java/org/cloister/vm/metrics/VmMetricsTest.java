package org.cloister.vm.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.cloister.vm.controller.tickets.WorkerPhase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VmMetricsTest {
    @TempDir
    private Path folder;

    private final VmMetrics metrics = new VmMetrics();

    private String said() {
        return new String(metrics.text(), StandardCharsets.UTF_8);
    }

    @Test
    void a_phase_is_counted_in_seconds() {
        metrics.phasePassed(WorkerPhase.BOOT, Duration.ofMillis(1500));
        metrics.phasePassed(WorkerPhase.BOOT, Duration.ofMillis(1500));
        assertThat(said())
                .contains("cloister_vm_boot_seconds{quantile=\"0.5\"} 1.5\n")
                .contains("cloister_vm_boot_seconds_count 2\n")
                .contains("cloister_vm_keys_seconds_count 0\n");
    }

    private void fail(String code) {
        metrics.attemptFailed(new EndReason(WorkerPhase.KEYS, code, "text", "", true));
    }

    @Test
    void gauges_are_of_now_and_counters_grow() {
        metrics.setQueueState(3, 9);
        metrics.setQueueState(2, 7);
        metrics.ticketRequested();
        metrics.slurmUnavailable();
        metrics.slurmUnavailable();
        metrics.jobStarted(Duration.ofSeconds(8));
        metrics.slurmPolled(Duration.ofMillis(250));
        assertThat(said())
                .contains("cloister_vm_tickets 2.0\n")
                .contains("cloister_vm_jobs_waiting 7.0\n")
                .contains("cloister_vm_tickets_asked_total 1.0\n")
                .contains("cloister_vm_slurm_unavailable_total 2.0\n")
                .contains("cloister_vm_start_seconds{quantile=\"0.5\"} 8.0\n")
                .contains("cloister_vm_look_seconds{quantile=\"0.5\"} 0.25\n");
    }

    @Test
    void the_channel_is_there_or_not_and_each_session_counts() {
        metrics.channelAttached(9.25);
        metrics.channelLost();
        metrics.channelAttached(30.5);
        assertThat(said())
                .contains("cloister_vm_channel_attached 1.0\n")
                .contains("cloister_vm_channel_attached_seconds 30.5\n")
                .contains("cloister_vm_channel_sessions_total 2.0\n")
                .contains("cloister_vm_channel_losses_total 1.0\n");
    }

    @Test
    void failures_are_counted_by_their_phase_and_by_their_code() {
        fail("node-lost");
        fail("node-lost");
        fail("quota");
        assertThat(said())
                .contains("cloister_vm_keys_failures_total 3.0\n")
                .contains("cloister_vm_boot_failures_total 0.0\n")
                .contains("cloister_vm_failures_node_lost_total 2.0\n")
                .contains("cloister_vm_failures_quota_total 1.0\n");
    }

    @Test
    void codes_without_end_and_codes_that_are_none_are_one_metric() {
        fail("x\n# TYPE forged counter");
        for (int i = 0; i < 100; i++) {
            fail("code" + i);
        }
        assertThat(said().lines().filter(line -> line.startsWith("cloister_vm_failures_")))
                .hasSize(33)
                .contains("cloister_vm_failures_other_total 69.0");
        assertThat(said()).doesNotContain("forged");
    }

    @Test
    void the_file_is_whole_and_everybody_may_read_it() throws IOException {
        Path file = folder.resolve("cloister-vm.prom");
        metrics.setQueueState(1, 0);
        new MetricsFile(file).write(metrics);
        metrics.setQueueState(2, 0);
        new MetricsFile(file).write(metrics);
        assertThat(file).hasBinaryContent(metrics.text());
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-r--r--");
        try (var files = Files.list(folder)) {
            assertThat(files).containsExactly(file);
        }
    }

    @Test
    void a_folder_that_is_missing_is_no_failure_and_is_used_when_it_is_there() throws IOException {
        MetricsFile file = new MetricsFile(folder.resolve("later/cloister-vm.prom"));
        file.write(metrics);
        Files.createDirectory(folder.resolve("later"));
        file.write(metrics);
        assertThat(folder.resolve("later/cloister-vm.prom")).exists();
    }
}
