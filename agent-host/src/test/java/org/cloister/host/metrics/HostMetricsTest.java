package org.cloister.host.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.cloister.host.reconcile.OrphanResource;
import org.cloister.host.reconcile.ReconcileAction;
import org.cloister.host.reconcile.ReconcilePass;
import org.cloister.host.reconcile.ResourceKind;
import org.cloister.host.reconcile.ResourceOwners;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmStepRunner;
import org.cloister.host.reconcile.VmTermination;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
@SuppressWarnings("NullAway.Init") // JUnit and start() set it
class HostMetricsTest {
    private static final long NOW_MS = HostMetricsScene.NOW.toEpochMilli();

    @TempDir
    private Path folder;

    private HostMetricsScene scene;

    @BeforeEach
    void start() throws Exception {
        scene = new HostMetricsScene(folder);
    }

    @AfterEach
    void stop() {
        scene.close();
    }

    private static VmLedgerEntry entry(int number, VmStartStep step, Optional<VmTermination> end) {
        return new VmLedgerEntry(ResourceOwners.owner(number), false, NOW_MS - 100_000, step, end);
    }

    private static Optional<VmTermination> end(long agoMs) {
        return Optional.of(new VmTermination(VmTermination.Why.ASKED, "", NOW_MS - agoMs));
    }

    @Test
    void vms_are_counted_by_what_the_ledger_has_of_them() throws IOException {
        scene.entries.add(entry(1, VmStartStep.TAP, Optional.empty()));
        scene.entries.add(entry(2, VmStartStep.RUNNING, Optional.empty()));
        scene.entries.add(entry(3, VmStartStep.REGISTERED, Optional.empty()));
        scene.entries.add(entry(4, VmStartStep.REGISTERED, Optional.empty()));
        scene.entries.add(entry(5, VmStartStep.REGISTERED, end(60_000)));
        scene.entries.add(entry(6, VmStartStep.PORT, end(60_001)));
        assertThat(scene.value("vms_building")).isEqualTo(1);
        assertThat(scene.value("vms_silent")).isEqualTo(1);
        assertThat(scene.value("vms_registered")).isEqualTo(2);
        assertThat(scene.value("vms_ending")).isEqualTo(2);
        assertThat(scene.value("leaks")).isEqualTo(1);
    }

    @Test
    void a_round_is_shown_as_it_ended_and_nothing_is_clean_before_the_first() throws IOException {
        assertThat(scene.value("clean")).isZero();
        List<ReconcileAction> done = List.of(
                new ReconcileAction.RecordEnd(
                        ResourceOwners.owner(1), new VmTermination(VmTermination.Why.STEP_GONE, "", 1)),
                new ReconcileAction.Adopt(entry(2, VmStartStep.RUNNING, Optional.empty())),
                new ReconcileAction.Adopt(
                        entry(3, VmStartStep.CLAIMED, Optional.of(new VmTermination(VmTermination.Why.ORPHAN, "", 1)))),
                new ReconcileAction.RestorePort(ResourceOwners.owner(2)),
                new ReconcileAction.RemoveResource(ResourceOwners.owner(1), ResourceKind.TAP),
                new ReconcileAction.ForgetVm(
                        ResourceOwners.owner(1), new VmTermination(VmTermination.Why.STEP_GONE, "", 1)));
        scene.metrics.recordPass(
                new ReconcilePass.Outcome(done, Set.of(), List.of(), List.of(), List.of(), 1, OptionalLong.empty()),
                Duration.ofMillis(20));
        assertThat(scene.value("clean")).isEqualTo(1);
        assertThat(scene.value("vms_adopted_total")).isEqualTo(2);
        assertThat(scene.value("vms_forgotten_total")).isEqualTo(1);
        assertThat(scene.value("ports_reopened_total")).isEqualTo(1);
        assertThat(scene.value("ends_step_gone_total")).isEqualTo(1);
        assertThat(scene.value("ends_orphan_total")).isEqualTo(1);
        assertThat(scene.value("round_seconds_count")).isEqualTo(1);
        scene.metrics.recordPass(
                new ReconcilePass.Outcome(
                        List.of(),
                        Set.of(),
                        List.of("STEPS"),
                        List.of("one", "two"),
                        List.of(new OrphanResource(ResourceKind.TAP, "cl-x", "nobody's")),
                        1,
                        OptionalLong.empty()),
                Duration.ofMillis(20));
        assertThat(scene.value("clean")).isZero();
        assertThat(scene.value("unheard")).isEqualTo(1);
        assertThat(scene.value("troubles")).isEqualTo(2);
        assertThat(scene.value("strays")).isEqualTo(1);
        assertThat(scene.value("vms_adopted_total")).isEqualTo(2);
    }

    @Test
    void a_makers_steps_are_timed_as_they_pass_and_counted_as_they_fail() throws IOException {
        List<VmStartStep> output = new ArrayList<>();
        VmStepRunner stepRunner = new TimedStepRunner(
                new VmStepRunner() {
                    @Override
                    public boolean isFree(VmStartStep step) {
                        return step != VmStartStep.PORT;
                    }

                    @Override
                    public void run(VmStartStep step) throws IOException {
                        if (step == VmStartStep.SCRATCH) {
                            throw new IOException("no space left on device");
                        }
                    }
                },
                scene.metrics,
                (step, took) -> output.add(step));
        stepRunner.run(VmStartStep.OVERLAY);
        assertThatThrownBy(() -> stepRunner.run(VmStartStep.SCRATCH)).hasMessageContaining("no space left");
        assertThat(stepRunner.isFree(VmStartStep.TAP)).isTrue();
        assertThat(stepRunner.isFree(VmStartStep.PORT)).isFalse();
        assertThat(output).containsExactly(VmStartStep.OVERLAY);
        assertThat(scene.value("overlay_seconds_count")).isEqualTo(1);
        assertThat(scene.value("scratch_seconds_count")).isZero();
        assertThat(scene.value("scratch_failures_total")).isEqualTo(1);
        assertThat(scene.value("port_failures_total")).isEqualTo(1);
        assertThat(scene.value("tap_failures_total")).isZero();
    }

    @Test
    void a_host_says_whether_it_takes_work_and_changes_nothing_for_who_asks() throws IOException {
        assertThat(scene.ask("GET /healthz")).startsWith("HTTP/1.1 200");
        assertThat(scene.ask("GET /readyz")).startsWith("HTTP/1.1 200");
        scene.unready = Optional.of("libvirt does not answer");
        assertThat(scene.ask("GET /readyz")).startsWith("HTTP/1.1 503").contains("libvirt does not answer");
        assertThat(scene.ask("GET /healthz")).startsWith("HTTP/1.1 200");
        assertThat(scene.ask("POST /metrics")).startsWith("HTTP/1.1 405");
        assertThat(scene.ask("GET /vms")).startsWith("HTTP/1.1 404");
    }

    @Test
    void nothing_has_a_label_but_the_quantiles_of_summaries() throws IOException {
        assertThat(scene.ask("GET /metrics").lines().filter(line -> line.startsWith("cloister_")))
                .isNotEmpty()
                .allMatch(line -> line.matches("\\w+(\\{quantile=\"[0-9.]+\"\\})? [0-9.E-]+"));
        scene.types().forEach((name, type) -> {
            if (name.startsWith("cloister_")) {
                assertThat(name.endsWith("_total")).as(name).isEqualTo(type.equals("counter"));
            }
        });
    }
}
