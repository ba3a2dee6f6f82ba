package org.cloister.vm.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.vm.worker.state.WorkerShutdown;
import org.junit.jupiter.api.Test;

class AssignedRoleTest {
    @Test
    void a_worker_that_leaves_its_vm_to_another_process_ends_this_one() {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        AssignedRole.restartWhenUnused(() -> false, () -> ended.complete(null));
        assertThat(ended).succeedsWithin(20, TimeUnit.SECONDS);
    }

    @Test
    void a_worker_that_takes_its_vm_with_it_leaves_the_process_to_the_vms_end() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        CompletableFuture<Void> ended = new CompletableFuture<>();
        AssignedRole.restartWhenUnused(
                () -> {
                    over.countDown();
                    return true;
                },
                () -> ended.complete(null));
        assertThat(over.await(20, TimeUnit.SECONDS)).isTrue();
        Thread.sleep(100);
        assertThat(ended).isNotDone();
    }

    @Test
    void a_worker_that_is_stopped_has_time_for_its_last_report_and_systemd_for_both() throws IOException {
        String unit = Files.readString(Path.of("../systemd/agent-vm.service"));
        Matcher timeout =
                Pattern.compile("^TimeoutStopSec=(\\d+)$", Pattern.MULTILINE).matcher(unit);
        assertThat(timeout.find()).isTrue();
        assertThat(AssignedRole.STOP_LIMIT)
                .isGreaterThan(WorkerShutdown.REPORT_LIMIT.multipliedBy(2))
                .isLessThan(Duration.ofSeconds(Long.parseLong(timeout.group(1))));
    }
}
